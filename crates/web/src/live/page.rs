//! `/crawl`: the crawl as it runs. Whole without scripts; `crawl.js` fills in what events bring.
//!
//! * Invariant: every part is on the page in every state, so that events can fill it; what does not apply is hidden.

use super::forms::{button, hint, job_forms, said, start_form};
use super::plot::{HEIGHT, Plot, WIDTH};
use super::telling::{Cell, JOB_COLUMNS, Job, Picture, Table};
use super::watching::look;
use crate::app::{App, Shared};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use axum::extract::{Extension, State};
use axum::response::Html;
use maud::{Markup, html};

/// The lines of the plot, named here so that they are there before anything was measured.
const LINES: [(&str, &str); 3] =
    [("pages", "Pages a second"), ("errors", "Errors a second"), ("queue", "URLs queued")];

pub(super) async fn crawl(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
) -> Result<Html<String>, Failure> {
    let picture = look(&app).await?;
    let body = html! {
        link rel="stylesheet" href="/assets/crawl.css";
        (said(&app, caller, "crawl"))
        div #live data-state=(picture.state) {
            h1 #lead { (picture.lead) }
            p.note #why hidden[picture.why.is_empty()] { (picture.why) }
            (controls(&app, caller, &picture))
            dl.numbers #numbers {
                @for (name, value) in &picture.numbers { div { dt { (name) } dd { (value) } } }
            }
            section data-works hidden[!picture.works] {
                h2 { "Speed over time" }
                (plots(&picture.plot))
            }
            h2 #jobs-title { "Jobs" }
            (jobs(&app, caller, &picture.jobs))
            section data-works hidden[!picture.works] {
                @for of in &picture.tables { (table(of)) }
            }
        }
        section data-idle hidden[picture.works] {
            h2 #start-title { "Start a crawl" }
            @if caller.is_operator() { (start_form(&app)) } @else { (hint("Starting a crawl")) }
        }
        p.quiet #how {
            @if picture.works { "Load the page again to see how it goes on." }
        }
        script src="/assets/crawl.js" defer {}
    };
    let frame = Frame { title: "The crawl", tab: Tab::Crawl, query: Some("") };
    Ok(page(&app, caller, &frame, body))
}

fn controls(app: &App, caller: Caller, picture: &Picture) -> Markup {
    let open = picture.jobs.iter().any(|job| job.state == "open");
    if !caller.is_operator() {
        return html! {
            @if picture.works { (hint("Stopping, pausing and excluding")) }
        };
    }
    html! {
        div.row {
            div data-stops hidden[!picture.stops] {
                (button(app, "/crawl/stop", &[], "danger", "Stop the crawl", "Stop the crawl"))
            }
            div data-idle hidden[picture.works || !open] {
                (button(app, "/crawl/start", &[("go_on", "yes")], "", "Go on with what is open", "Go on with what is open"))
            }
        }
    }
}

fn plots(plot: &Plot) -> Markup {
    let (width, height) = (WIDTH, HEIGHT);
    html! {
        div.plots {
            @for (id, title) in LINES {
                @let line = plot.lines.iter().find(|line| line.id == id);
                figure {
                    figcaption {
                        (title) ": "
                        b #{ "last-" (id) } { (line.map_or("", |l| &l.last)) }
                        span.quiet { ", at most " span #{ "most-" (id) } { (line.map_or("", |l| &l.most)) } }
                    }
                    svg.plot role="img" aria-label={ (title) " over time" } viewBox={ "0 0 " (width) " " (height) } preserveAspectRatio="none" {
                        line.axis x1="0" y1=(height - 1.0) x2=(width) y2=(height - 1.0) {}
                        polyline.line.{ "line-" (id) } #{ "line-" (id) } points=(line.map_or("", |l| &l.points)) vector-effect="non-scaling-stroke" {}
                    }
                }
            }
        }
        p.quiet { "The last " span #span { (if plot.span.is_empty() { "moments" } else { &plot.span }) } "." }
    }
}

/// How a column is set: `>` numbers, `~` long texts.
fn set_as(column: &str) -> (&'static str, &str) {
    match (column.strip_prefix('>'), column.strip_prefix('~')) {
        (Some(name), _) => ("n", name),
        (_, Some(name)) => ("wrap", name),
        _ => ("", column),
    }
}

fn heading(column: &str) -> Markup {
    let (class, name) = set_as(column);
    html! { th class=(class) scope="col" { (name) } }
}

fn cell(cell: &Cell, column: &str) -> Markup {
    html! {
        td class=(set_as(column).0) {
            @match &cell.href {
                Some(href) => { a href=(href) { (cell.text) } }
                None => { (cell.text) }
            }
        }
    }
}

fn jobs(app: &App, caller: Caller, all: &[Job]) -> Markup {
    let operator = caller.is_operator();
    html! {
        div.scroll tabindex="0" role="region" aria-labelledby="jobs-title" {
            table #jobs hidden[all.is_empty()] {
                thead { tr {
                    @for column in JOB_COLUMNS { (heading(column)) }
                    @if operator { th scope="col" { "Do" } }
                } }
                tbody {
                    @for job in all {
                        tr data-job=(job.id) {
                            @for (of, column) in job.cells.iter().zip(JOB_COLUMNS) { (cell(of, column)) }
                            @if operator { td.acts { (job_forms(app, job.id, &job.state)) } }
                        }
                    }
                }
            }
        }
        p.quiet #jobs-empty hidden[!all.is_empty()] { "There is no job yet." }
    }
}

fn table(of: &Table) -> Markup {
    html! {
        h2 #{ (of.id) "-title" } { (of.title) }
        div.scroll tabindex="0" role="region" aria-labelledby={ (of.id) "-title" } {
            table #(of.id) hidden[of.rows.is_empty()] {
                thead { tr { @for column in of.columns { (heading(column)) } } }
                tbody {
                    @for row in &of.rows {
                        tr { @for (one, column) in row.iter().zip(of.columns) { (cell(one, column)) } }
                    }
                }
            }
        }
        p.quiet #{ (of.id) "-empty" } hidden[!of.rows.is_empty()] { (of.empty) }
        p.quiet #{ (of.id) "-more" } hidden[of.more.is_empty()] { (of.more) }
    }
}
