//! The text of a page: what its content shows, in the order it is shown.
//!
//! * What this is: the part of the drawing language that places text. Matrices, fonts and spacing
//!   are followed, lines and pictures passed over.
//! * Its place: `pdf` calls [`Reader::page`] for every page; it calls `font` and tells `lines`.
//! * Invariants: forms inside forms are followed [`FORMS`] deep; states are kept [`STATES`] deep;
//!   every operator is paid for.
//! * What is not here: what is visible. Text set invisibly is how a scanned page carries its words.

use super::file::File;
use super::font::Font;
use super::lines::Lines;
use super::object::{Dict, Lexer, Object};
use std::collections::HashMap;
use std::rc::Rc;

const FORMS: usize = 8;
const STATES: usize = 256;
/// Operands an operator may have.
const OPERANDS: usize = 64;
/// Fonts that are kept; others are read again.
const FONTS: usize = 2_000;
/// Content of a page, all its streams together.
const CONTENT: usize = 32 << 20;

type Matrix = [f64; 6];

/// The fonts of one content, by the names it has for them.
type Fonts = HashMap<Box<[u8]>, Option<Rc<Font>>>;

const UNIT: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// First `a`, then `b`.
fn times(a: &Matrix, b: &Matrix) -> Matrix {
    [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    ]
}

#[derive(Clone)]
struct State {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    between: f64,
    word: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

pub(super) struct Reader<'a> {
    file: &'a File<'a>,
    fonts: HashMap<u32, Rc<Font>>,
    pub(super) lines: Lines,
    /// Whether text was shown in a font that does not tell its characters.
    pub(super) unknown: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a File<'a>, limit: usize) -> Self {
        Reader { file, fonts: HashMap::new(), lines: Lines::new(limit), unknown: false }
    }

    /// Reads a page.
    pub(super) fn page(&mut self, page: &Dict) {
        let mut content = Vec::new();
        let parts = match self.file.entry(page, b"Contents") {
            Object::Array(parts) => parts,
            one => vec![one],
        };
        for part in &parts {
            let stream = self.file.resolve(part);
            content.extend(self.file.stream(&stream).unwrap_or_default());
            content.push(b'\n');
            if content.len() > CONTENT {
                break;
            }
        }
        let resources = self.file.dict(page, b"Resources").unwrap_or_default();
        self.content(&content, &resources, &UNIT, 0);
        self.lines.break_line();
    }

    fn content(&mut self, content: &[u8], resources: &Dict, matrix: &Matrix, depth: usize) {
        let mut pen = Pen::new(*matrix);
        let mut lexer = Lexer::new(content, 0, self.file.limits());
        let mut operands: Vec<Object> = Vec::new();
        let mut fonts = Fonts::new();
        while !self.lines.is_full() {
            let Some(object) = lexer.next() else { break };
            let Object::Word(word) = object else {
                if operands.len() < OPERANDS {
                    operands.push(object);
                }
                continue;
            };
            match &*word {
                b"Tf" => self.font(&mut pen, resources, &operands, &mut fonts),
                b"Tj" => self.show(&mut pen, operands.first()),
                b"'" => {
                    pen.next_row();
                    self.show(&mut pen, operands.first());
                }
                b"\"" => {
                    let number = |i: usize| operands.get(i).and_then(Object::number);
                    pen.state.word = number(0).unwrap_or(0.0);
                    pen.state.between = number(1).unwrap_or(0.0);
                    pen.next_row();
                    self.show(&mut pen, operands.get(2));
                }
                b"TJ" => {
                    if let Some(Object::Array(list)) = operands.first() {
                        for item in list {
                            match item {
                                Object::Number(n) => pen.back(*n),
                                item => self.show(&mut pen, Some(item)),
                            }
                        }
                    }
                }
                b"Do" => self.form(&pen, resources, operands.first(), depth),
                b"BI" => skip_picture(&mut lexer),
                b"BDC" => pen.open(self.spoken(resources, operands.get(1))),
                b"BMC" => pen.open(None),
                b"EMC" => pen.close(),
                operator => pen.operate(operator, &operands),
            }
            operands.clear();
        }
    }

    fn font(&mut self, pen: &mut Pen, resources: &Dict, operands: &[Object], fonts: &mut Fonts) {
        let (Some(name), Some(size)) =
            (operands.first().and_then(Object::name), operands.get(1).and_then(Object::number))
        else {
            return;
        };
        pen.state.size = size;
        if let Some(font) = fonts.get(name) {
            pen.state.font = font.clone();
            return;
        }
        let all = self.file.dict(resources, b"Font").unwrap_or_default();
        pen.state.font = all.get(name).and_then(|found| self.read_font(found));
        if fonts.len() < FONTS {
            fonts.insert(name.into(), pen.state.font.clone());
        }
    }

    fn read_font(&mut self, found: &Object) -> Option<Rc<Font>> {
        let number = match found {
            Object::Reference(number) => Some(*number),
            _ => None,
        };
        if let Some(font) = number.and_then(|number| self.fonts.get(&number)) {
            return Some(font.clone());
        }
        let dict = self.file.resolve(found).into_dict()?;
        let font = Rc::new(Font::read(self.file, &dict));
        if let Some(number) = number
            && self.fonts.len() < FONTS
        {
            self.fonts.insert(number, font.clone());
        }
        Some(font)
    }

    /// What marked content is to be read as, where it says so.
    fn spoken(&self, resources: &Dict, properties: Option<&Object>) -> Option<String> {
        let dict = match properties? {
            Object::Dict(dict) => dict.clone(),
            Object::Name(name) => {
                let all = self.file.dict(resources, b"Properties")?;
                self.file.dict(&all, name)?
            }
            _ => return None,
        };
        match self.file.entry(&dict, b"ActualText") {
            Object::String(bytes) => Some(super::text_string(&bytes)),
            _ => None,
        }
    }

    fn form(&mut self, pen: &Pen, resources: &Dict, name: Option<&Object>, depth: usize) {
        let Some(name) = name.and_then(Object::name) else { return };
        let Some(forms) = self.file.dict(resources, b"XObject") else { return };
        let form = self.file.entry(&forms, name);
        let Object::Stream(dict, ..) = &form else { return };
        if depth >= FORMS || !self.file.entry(dict, b"Subtype").is_name(b"Form") {
            return;
        }
        let mut matrix = pen.state.matrix;
        if let Object::Array(own) = self.file.entry(dict, b"Matrix")
            && let Some(own) = as_matrix(&own)
        {
            matrix = times(&own, &matrix);
        }
        let own = self.file.dict(dict, b"Resources");
        let content = self.file.stream(&form).unwrap_or_default();
        self.content(&content, own.as_ref().unwrap_or(resources), &matrix, depth + 1);
    }

    fn show(&mut self, pen: &mut Pen, string: Option<&Object>) {
        let (Some(Object::String(bytes)), Some(font)) = (string, pen.state.font.clone()) else {
            return;
        };
        let (lines, unknown) = (&mut self.lines, &mut self.unknown);
        font.each(bytes, |text, width, is_space| {
            *unknown |= text.is_empty() && width > 0.0;
            pen.set(lines, text, width, is_space);
        });
    }
}

/// Where text goes next.
struct Pen {
    state: State,
    kept: Vec<State>,
    text: Matrix,
    row: Matrix,
    /// For every marked content that is open: what it is to be read as.
    marks: Vec<Option<String>>,
    /// How many of those say what they are to be read as.
    spoken: usize,
}

impl Pen {
    fn new(matrix: Matrix) -> Self {
        let state = State {
            matrix,
            font: None,
            size: 0.0,
            between: 0.0,
            word: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        Pen { state, kept: Vec::new(), text: UNIT, row: UNIT, marks: Vec::new(), spoken: 0 }
    }

    fn operate(&mut self, operator: &[u8], operands: &[Object]) {
        let number = |i: usize| operands.get(i).and_then(Object::number).unwrap_or(0.0);
        match operator {
            b"q" if self.kept.len() < STATES => self.kept.push(self.state.clone()),
            b"Q" => self.state = self.kept.pop().unwrap_or_else(|| self.state.clone()),
            b"cm" => {
                if let Some(matrix) = as_matrix(operands) {
                    self.state.matrix = times(&matrix, &self.state.matrix);
                }
            }
            b"BT" => (self.text, self.row) = (UNIT, UNIT),
            b"Td" => self.move_by(number(0), number(1)),
            b"TD" => {
                self.state.leading = -number(1);
                self.move_by(number(0), number(1));
            }
            b"Tm" => {
                if let Some(matrix) = as_matrix(operands) {
                    (self.text, self.row) = (matrix, matrix);
                }
            }
            b"T*" => self.next_row(),
            b"Tc" => self.state.between = number(0),
            b"Tw" => self.state.word = number(0),
            b"Tz" => self.state.stretch = number(0) / 100.0,
            b"TL" => self.state.leading = number(0),
            b"Ts" => self.state.rise = number(0),
            _ => {}
        }
    }

    fn move_by(&mut self, x: f64, y: f64) {
        self.row = times(&[1.0, 0.0, 0.0, 1.0, x, y], &self.row);
        self.text = self.row;
    }

    fn next_row(&mut self) {
        self.move_by(0.0, -self.state.leading);
    }

    /// Moves back by thousandths of the size.
    fn back(&mut self, by: f64) {
        self.advance(-by / 1000.0 * self.state.size * self.state.stretch);
    }

    fn advance(&mut self, x: f64) {
        self.text = times(&[1.0, 0.0, 0.0, 1.0, x, 0.0], &self.text);
    }

    fn open(&mut self, spoken: Option<String>) {
        if self.marks.len() < STATES {
            self.spoken += usize::from(spoken.is_some());
            self.marks.push(spoken);
        }
    }

    fn close(&mut self) {
        self.spoken -= usize::from(self.marks.pop().flatten().is_some());
    }

    fn set(&mut self, lines: &mut Lines, text: &str, width: f64, is_space: bool) {
        let state = &self.state;
        let here = times(&[1.0, 0.0, 0.0, 1.0, 0.0, state.rise], &self.text);
        let here = times(&here, &state.matrix);
        let length = width * state.size * state.stretch;
        let across = here[0].hypot(here[1]);
        let em = state.font.as_ref().map_or(1.0, |font| font.em);
        let size = (em * state.size * here[2].hypot(here[3])).abs();
        let between = state.between + if is_space { state.word } else { 0.0 };
        let step = length + between * state.stretch;
        if across.is_normal() && size.is_normal() {
            let begin = (here[4], here[5]);
            let end = (here[4] + length * here[0], here[5] + length * here[1]);
            let sign = if state.size < 0.0 { -1.0 } else { 1.0 };
            let across = (sign * here[0] / across, sign * here[1] / across);
            match self.spoken {
                0 if text.is_empty() => {}
                0 => lines.set(text, begin, end, size, across),
                // Said once, where it begins; the glyphs only move on.
                _ => {
                    let spoken = self.marks.iter_mut().flatten().last();
                    let spoken = spoken.map(std::mem::take).unwrap_or_default();
                    lines.set(&spoken, begin, end, size, across);
                }
            }
        }
        self.advance(step);
    }
}

fn as_matrix(operands: &[Object]) -> Option<Matrix> {
    let mut matrix = UNIT;
    if operands.len() < 6 {
        return None;
    }
    for (slot, operand) in matrix.iter_mut().zip(operands) {
        *slot = operand.number()?;
    }
    Some(matrix)
}

/// Passes over a picture that stands in the content itself.
fn skip_picture(lexer: &mut Lexer<'_>) {
    while let Some(object) = lexer.next() {
        if object == Object::Word((*b"ID").into()) {
            break;
        }
    }
    let is_end = |at: usize| {
        let white = |at: usize| lexer.data.get(at).is_none_or(|b| b.is_ascii_whitespace());
        white(at.wrapping_sub(1)) && white(at + 2)
    };
    let rest = &lexer.data[lexer.at..];
    let ends = memchr::memmem::find_iter(rest, b"EI").map(|i| lexer.at + i);
    let end = ends.into_iter().find(|&at| is_end(at)).map_or(lexer.data.len(), |at| at + 2);
    lexer.at = end;
}
