//! Files that are not pages: small, valid enough to be recognised, different from each other.

use crate::draw::{Draw, Stream};
use crate::place::ENDINGS;
use crate::prose;
use crate::web::Web;

/// A whole image of one grey pixel.
pub(crate) const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\
    \0\0\0\nIDATx\x9cch\0\0\0\x82\0\x81w\xcdr\xb6\0\0\0\0IEND\xaeB`\x82";

/// An archive that holds nothing.
const ZIP: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// The type and the bytes of a file.
pub(crate) fn make(web: &Web, site: usize, number: usize) -> (&'static str, Vec<u8>) {
    let mut draw = Draw::new(web.spec().seed, site, number, Stream::File);
    match ENDINGS[number % ENDINGS.len()] {
        "pdf" => ("application/pdf", pdf(web, site, &mut draw)),
        // Readers ignore what follows the end of an image or precedes that of an archive.
        "png" => ("image/png", [PNG, &padding(&mut draw)].concat()),
        _ => ("application/zip", [&padding(&mut draw), ZIP].concat()),
    }
}

fn padding(draw: &mut Draw) -> Vec<u8> {
    let length = 8 * (16 + draw.below(256));
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        bytes.extend(draw.number().to_le_bytes());
    }
    bytes
}

/// One page with one sentence on it.
fn pdf(web: &Web, site: usize, draw: &mut Draw) -> Vec<u8> {
    let mut sentence = String::new();
    prose::sentence(&mut sentence, draw, web.topic(site));
    let content = format!("BT /F1 12 Tf 72 720 Td ({sentence}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font \
         << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    let mut text = "%PDF-1.4\n".to_owned();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (nth, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", text.len()));
        text.push_str(&format!("{} 0 obj\n{object}\nendobj\n", nth + 1));
    }
    let start = text.len();
    let size = objects.len() + 1;
    (text
        + &table
        + &format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"))
        .into_bytes()
}
