//! One suite, many stores: every behaviour runs on each of them.
//!
//! A behaviour is a sentence about any [`argiope_store::Store`]. To try another store, give it
//! a home and a line at the end of this file.

#![allow(clippy::unwrap_used)]

#[path = "conformance/again.rs"]
mod again;
#[path = "support/cluster.rs"]
mod cluster;
#[path = "conformance/exclusions.rs"]
mod exclusions;
#[path = "conformance/forgetting.rs"]
mod forgetting;
#[path = "conformance/hosts.rs"]
mod hosts;
#[path = "conformance/imports.rs"]
mod imports;
#[path = "conformance/jobs.rs"]
mod jobs;
#[path = "conformance/manners.rs"]
mod manners;
#[path = "conformance/moves.rs"]
mod moves;
#[path = "conformance/queue.rs"]
mod queue;
#[path = "conformance/records.rs"]
mod records;
#[path = "conformance/roles.rs"]
mod roles;
#[path = "conformance/scene.rs"]
mod scene;

macro_rules! behaviours_on {
    ($name:ident, $home:expr) => {
        behaviours_on! { $name, $home,
            queue: a_url_gets_one_doc_id_and_enters_the_queue_once,
            queue: a_url_found_twice_in_one_batch_is_one_url,
            queue: doc_ids_are_running_numbers_of_their_partition,
            queue: a_claimed_url_stays_in_the_queue_until_its_result,
            queue: results_delete_rows_and_counters_agree,
            queue: a_retry_goes_to_the_calendar_and_comes_back_with_its_place_and_attempts,
            queue: a_retry_of_a_host_given_back_schedules_it_when_due,
            queue: refills_page_through_in_order_without_skipping_or_repeating,
            queue: rows_found_beyond_a_cursor_come_with_the_next_refill,
            queue: depth_first_places_sort_the_newest_page_first,
            queue: a_skipped_url_is_known_and_never_queued,
            queue: ready_rows_before_a_place_are_counted_up_to_a_limit,
            queue: a_result_without_its_row_is_refused_and_changes_nothing,
            moves: a_row_rises_to_where_its_score_belongs_and_stays_there,
            moves: a_row_falls_only_where_it_may,
            moves: moved_rows_of_loaded_hosts_are_told_where_they_are,
            moves: a_row_found_and_moved_in_one_batch_is_told_once,
            moves: what_does_not_wait_for_its_first_visit_is_not_moved,
            moves: rows_of_other_jobs_are_not_moved,
            hosts: claims_are_durable_and_listed,
            hosts: claims_keep_to_their_limit_and_claim_nothing_twice,
            hosts: released_hosts_wake_no_earlier_than_told,
            hosts: a_host_without_rows_is_not_claimed_again,
            hosts: a_host_released_and_found_again_in_the_same_batch_is_scheduled,
            hosts: a_host_claimed_in_the_batch_that_found_it_tells_its_rows_once,
            hosts: rows_of_claimed_hosts_are_told_and_of_others_not,
            hosts: hosts_of_paused_jobs_sleep_and_wake_when_a_job_opens,
            hosts: a_sleeping_host_wakes_when_a_row_is_found_or_taken_over,
            hosts: the_next_due_time_is_that_of_the_earliest_host_or_calendar_row,
            jobs: a_shorter_way_lowers_the_depth,
            jobs: a_shorter_way_under_a_depth_limit_expands_a_fetched_page_again,
            jobs: a_shorter_way_met_while_the_page_is_out_expands_it_under_a_depth_limit_only,
            jobs: another_jobs_shorter_way_does_not_change_the_depth_of_a_queued_row,
            jobs: a_page_behind_the_depth_limit_is_queued_when_a_shorter_way_is_found,
            jobs: a_second_job_expands_fetched_pages_without_a_request,
            jobs: a_job_for_news_takes_back_what_another_has_taken_and_no_other_job_does,
            jobs: a_shorter_way_leaves_the_depth_of_a_page_that_another_job_has,
            jobs: failed_pages_are_tried_again_by_a_new_job_and_not_by_the_same,
            jobs: what_one_job_left_alone_another_may_fetch,
            jobs: rows_of_a_paused_or_dropped_job_are_taken_over,
            jobs: a_job_that_meets_a_queued_url_gets_its_turn_after_the_owner,
            jobs: what_failed_for_the_owner_is_tried_for_the_job_that_waits,
            jobs: what_failed_for_another_job_stays_queued_for_its_owner,
            jobs: rows_whose_owner_is_set_aside_are_handed_out_for_the_job_that_waits,
            jobs: a_row_on_the_calendar_is_taken_over_with_its_due_time_and_attempts,
            jobs: a_row_taken_over_while_it_is_out_is_expanded_for_its_new_owner,
            jobs: rows_of_paused_jobs_are_passed_over_and_reappear_when_the_job_opens,
            jobs: job_rows_tell_state_limits_and_time_spent,
            manners: robots_files_are_kept_whole_and_the_last_one_counts,
            manners: a_claimed_host_comes_with_its_robots_file_and_a_page_of_rows_does_not,
            manners: a_release_keeps_how_the_host_behaved,
            manners: a_note_survives_a_crash_and_the_host_stays_claimed,
            manners: a_release_has_the_last_word_and_a_note_after_it_none,
            manners: forgiving_forgets_the_temper_and_not_the_time,
            again: what_was_visited_is_queued_again_and_stays_what_it_is_until_its_result,
            again: what_is_queued_or_was_never_visited_is_not_queued_again,
            again: a_visit_that_finds_nothing_new_is_kept_and_not_told,
            again: a_page_that_is_gone_and_comes_back_is_told_each_time,
            again: a_try_that_failed_is_made_again_as_a_visit_again,
            again: plans_are_kept_and_of_a_forgotten_url_there_is_none,
            exclusions: names_are_kept_until_they_are_taken_back,
            exclusions: patterns_are_kept_beside_the_names,
            exclusions: delays_are_kept_beside_the_names,
            exclusions: a_row_may_be_put_at_another_place,
            exclusions: an_excluded_host_is_loaded_at_once_to_be_refused,
            exclusions: what_waits_for_an_excluded_host_is_ready_at_once,
            exclusions: a_url_first_met_on_an_excluded_site_is_skipped_and_a_known_one_is_queued,
            exclusions: a_forgiven_site_is_asked_for_what_was_left_alone,
            exclusions: what_captures_take_up_is_counted_for_their_host,
            manners: a_named_host_is_claimed_whatever_the_schedule_says,
            manners: a_named_host_comes_with_its_rows_and_beside_those_that_are_due,
            manners: a_named_host_without_rows_goes_unscheduled_when_it_is_given_back,
            manners: the_urls_of_a_host_are_listed_page_by_page,
            roles: role_and_hops_go_with_the_row_wherever_it_goes,
            roles: a_known_url_keeps_its_role_until_it_is_requested_anew,
            roles: sitemaps_are_counted_as_such_and_as_nothing_else,
            roles: what_is_left_alone_without_a_request_is_counted_by_its_reason,
            roles: what_the_job_gave_up_is_asked_again_when_it_is_told_to,
            roles: other_ends_stand_also_when_a_job_is_told_to_ask_again,
            roles: asking_again_takes_back_only_what_the_same_job_counted,
            roles: a_row_taken_over_while_out_is_counted_and_taken_back_by_who_asked,
            roles: a_forgiven_host_is_asked_for_what_it_had_lost,
            imports: an_imported_capture_makes_its_url_known_and_queues_nothing,
            imports: an_older_capture_leaves_the_last_word_to_the_newer,
            imports: a_queued_url_stays_queued_whatever_is_imported,
            forgetting: of_a_forgotten_url_only_its_row_is_left,
            forgetting: a_forgotten_url_keeps_its_number_and_its_host_knows_it,
            forgetting: a_forgotten_url_leaves_the_queue_and_the_counts_agree,
            forgetting: a_forgotten_url_leaves_the_calendar_also_when_it_is_due,
            forgetting: what_a_job_had_given_up_no_longer_counts_when_it_is_forgotten,
            forgetting: no_link_leads_to_a_forgotten_url_and_a_new_start_url_does,
            forgetting: a_capture_that_is_moved_takes_the_payload_with_it,
            forgetting: those_who_follow_the_change_log_hear_of_it,
            forgetting: what_is_unknown_cannot_be_forgotten_and_nothing_changes,
            forgetting: a_capture_that_goes_takes_nothing_else_with_it,
            forgetting: followers_are_told_to_look_again_at_a_url_that_lost_a_capture,
            forgetting: a_capture_goes_and_another_of_its_url_is_moved_in_one_batch,
            forgetting: a_capture_of_a_url_that_goes_whole_is_counted_once,
            records: captures_are_listed_oldest_first,
            records: visits_and_changes_are_counted,
            records: forward_links_are_kept_and_rewritten,
            records: payload_rows_are_per_site,
            records: change_log_numbers_are_gapless_per_partition,
            records: the_change_log_tells_what_a_visit_left_behind,
            records: the_last_numbers_of_the_change_log_are_told,
            records: segment_lengths_are_kept_per_kind,
            records: the_next_page_number_only_grows,
            records: scans_page_in_key_order,
            records: what_is_unknown_is_none,
        }
    };
    ($name:ident, $home:expr, $($module:ident: $behaviour:ident),* $(,)?) => {
        mod $name {
            use super::scene::{self, Home};
            $(
                #[test]
                fn $behaviour() {
                    // Where it is not installed, that was said.
                    let Some(mut home) = $home else { return };
                    super::$module::$behaviour(&mut home);
                    scene::check(home.store());
                    home.reopen();
                    scene::check(home.store());
                }
            )*
        }
    };
}

behaviours_on!(memory, Some(scene::InMemory::new()));
behaviours_on!(embedded, Some(scene::Embedded::new()));
behaviours_on!(
    postgres,
    super::cluster::shared().map(|cluster| scene::Postgres::new(cluster.database()))
);
