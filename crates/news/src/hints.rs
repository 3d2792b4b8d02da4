//! What a page says about itself: an article, a front page, its feeds.
