//! The files of the pages, inside the binary.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// A file: what it is called, what it is, what is in it.
macro_rules! asset {
    ($name:ident, $file:literal, $mime:literal) => {
        pub(crate) async fn $name() -> Response {
            let head = [(header::CONTENT_TYPE, $mime), (header::CACHE_CONTROL, "max-age=300")];
            (head, include_str!(concat!("../assets/", $file))).into_response()
        }
    };
}

asset!(style, "style.css", "text/css; charset=utf-8");
asset!(script, "script.js", "text/javascript; charset=utf-8");
asset!(icon, "icon.svg", "image/svg+xml");
asset!(crawl_script, "crawl.js", "text/javascript; charset=utf-8");
asset!(crawl_style, "crawl.css", "text/css; charset=utf-8");
asset!(news_script, "news.js", "text/javascript; charset=utf-8");
asset!(news_style, "news.css", "text/css; charset=utf-8");
