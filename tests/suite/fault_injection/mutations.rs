//! Values that Terraform would never send: each with one specific error, or with random ones.

use rmpv::Value;

/// Pseudorandom numbers that are the same in every run (xorshift64*).
pub(super) struct Chance(u64);

impl Chance {
    /// `seed` may be any number.
    pub(super) fn new(seed: u64) -> Self {
        // Zero would stay zero, and similar seeds start with similar numbers.
        let mut chance = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            chance.next();
        }
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from 0 to `end - 1`. `end` must not be 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("it is below a usize")
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }

    pub(super) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

pub(super) fn encoded(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).expect("writing to memory does not fail");
    bytes
}

/// Encoded values that are invalid for an object with these attributes, each with a description of the error.
pub(super) fn invalid_values(object: &Value) -> Vec<(String, Vec<u8>)> {
    let whole = encoded(object);
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |what: &str, bytes: Vec<u8>| all.push((what.to_string(), bytes));
    for step in 0..16 {
        let length = 1 + step * (whole.len() - 1) / 16;
        add(&format!("cut off after {length} bytes"), whole[..length].to_vec());
    }
    add("one extra byte", [&whole[..], &[0xc0]].concat());
    add("the reserved byte", vec![0xc1]);
    for (what, value) in [
        ("a number", Value::from(42)),
        ("a string", "text".into()),
        ("a bool", true.into()),
        ("a list", Value::Array(vec![])),
        ("not a number", Value::F64(f64::NAN)),
        ("infinity", Value::F32(f32::INFINITY)),
        ("bytes", Value::Binary(vec![1, 2, 3])),
        ("a key that is a number", Value::Map(vec![(1.into(), Value::Nil)])),
        ("an unknown attribute", Value::Map(vec![("no such attribute".into(), Value::Nil)])),
    ] {
        add(what, encoded(&value));
    }
    add("lists without end", vec![0x91; 100_000]);
    add("maps without end", b"\x81\xa1a".repeat(100_000));
    add("extensions of extensions", vec![0xc7, 0xff, 12]);
    for header in [0xdd, 0xdf, 0xdb, 0xc6, 0xc9] {
        add(&format!("four billion elements of {header:#x}"), vec![header, 0xff, 0xff, 0xff, 0xff]);
        add(&format!("the same of {header:#x}, nested"), [header, 0xff, 0xff, 0xff, 0xff].repeat(190));
    }
    add("a key that is not UTF-8", b"\x81\xa2\xff\xfe\xc0".to_vec());
    for (name, of) in object.as_map().expect("it is an object") {
        let key = encoded(name);
        let with = |value: &[u8]| [&[0x81], &key[..], value].concat();
        add(&format!("bytes for {name}"), with(&[0xc4, 1, 0xff]));
        add(&format!("not a number for {name}"), with(&encoded(&Value::F64(f64::NAN))));
        add(&format!("no value for {name}"), with(&[]));
        let huge = 0x1_0000_0000_u64;
        let other = match of {
            Value::String(_) => Value::Array(vec![huge.into()]),
            _ => "\u{0}no number".into(),
        };
        add(&format!("another type for {name}"), with(&encoded(&other)));
        if matches!(of, Value::String(_)) {
            add(&format!("invalid UTF-8 for {name}"), with(&[0xa2, 0xc3, 0x28]));
        }
        if let Value::Map(_) = of {
            add(&format!("a key that is a list in {name}"), with(&[0x81, 0x90, 0xc0]));
        }
    }
    all
}

/// JSON that is invalid for every object.
pub(super) fn invalid_json() -> Vec<(String, Vec<u8>)> {
    let deep = |open: &str| open.repeat(200_000).into_bytes();
    [
        ("cut off", b"{\"name\": \"fr".to_vec()),
        ("not JSON", b"\x00\x01\x02".to_vec()),
        ("invalid UTF-8", b"{\"name\": \"\xff\"}".to_vec()),
        ("an unpaired surrogate", b"{\"name\": \"\\ud800\", \"vpc_name\": \"\\ud800\"}".to_vec()),
        ("a list", b"[]".to_vec()),
        ("a number", b"1e999999999".to_vec()),
        ("not a number", b"NaN".to_vec()),
        ("two values", b"{} {}".to_vec()),
        ("lists without end", deep("[")),
        ("objects without end", deep("{\"name\":")),
    ]
    .map(|(what, bytes)| (what.to_string(), bytes))
    .into()
}

/// A value with one to three changes, in half of the cases with changes of its encoding too.
pub(super) fn mutated(object: &Value, chance: &mut Chance) -> Vec<u8> {
    let mut object = object.clone();
    for _ in 0..=chance.below(3) {
        mutate(&mut object, chance);
    }
    let bytes = encoded(&object);
    if chance.below(2) == 0 { bytes } else { mutated_bytes(&bytes, chance) }
}

fn mutate(value: &mut Value, chance: &mut Chance) {
    let stays = chance.below(4) != 0;
    match value {
        Value::Map(entries) if stays && !entries.is_empty() => {
            let index = chance.below(entries.len());
            match chance.below(10) {
                0 => drop(entries.remove(index)),
                1 => entries.push(entries[index].clone()),
                2 => entries[index].0 = anything(chance, 1),
                _ => mutate(&mut entries[index].1, chance),
            }
        }
        Value::Array(items) if stays && !items.is_empty() => {
            let index = chance.below(items.len());
            match chance.below(5) {
                0 => drop(items.remove(index)),
                1 => items.push(items[index].clone()),
                _ => mutate(&mut items[index], chance),
            }
        }
        Value::String(text) if stays => {
            let bytes = mutated_bytes(text.as_bytes(), chance);
            *value = String::from_utf8_lossy(&bytes).into_owned().into();
        }
        _ => *value = anything(chance, 4),
    }
}

fn anything(chance: &mut Chance, depth: usize) -> Value {
    const TEXTS: [&str; 16] = [
        "",
        " ",
        "10.0.0.0/33",
        "::/0",
        "0.0.0.0/0",
        "fe80::/10",
        "-1",
        "999999999999",
        "arn:aws:lambda:::function:",
        "GET /{proxy+}",
        "$default",
        "all",
        "\u{202e}\u{0}",
        "AZ-4294967296",
        // The exponents overflow when the place of the last digit is added.
        "1.5e-9223372036854775808",
        "-10e9223372036854775807",
    ];
    match chance.below(if depth == 0 { 9 } else { 12 }) {
        0 => Value::Nil,
        1 => chance.next().is_multiple_of(2).into(),
        2 => i64::from_le_bytes(chance.next().to_le_bytes()).into(),
        3 => chance.next().into(),
        4 => Value::F64(f64::from_bits(chance.next())),
        5 => Value::F32(f32::from_bits(chance.next() as u32)),
        6 => (*chance.one_of(&TEXTS)).into(),
        7 => Value::Ext(chance.byte() as i8, vec![chance.byte(); chance.below(20)]),
        8 => Value::Binary(vec![chance.byte(); chance.below(20)]),
        9 => "é".repeat(chance.below(3000)).into(),
        10 => Value::Array((0..chance.below(4)).map(|_| anything(chance, depth - 1)).collect()),
        _ => {
            let entries = (0..chance.below(4)).map(|_| (anything(chance, 0), anything(chance, depth - 1)));
            Value::Map(entries.collect())
        }
    }
}

/// Bytes with one to four flips, insertions, removals, repetitions or truncations.
pub(super) fn mutated_bytes(bytes: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=chance.below(4) {
        let at = chance.below(bytes.len() + 1);
        match chance.below(7) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, chance.byte()),
            2 => drop(bytes.splice(at..at, [*chance.one_of(&[0xdd, 0xdf, 0xdb, 0xc6, 0xc9]), 0xff, 0xff, 0xff, 0xff])),
            3 => {
                let parts = [&b"\""[..], b"{", b"[", b"null", b"1e400", b"1.5e-9223372036854775808", b"\\u0000"];
                drop(bytes.splice(at..at, chance.one_of(&parts).to_vec()));
            }
            4 => {
                let part = bytes[at / 2..at].to_vec();
                drop(bytes.splice(at..at, part));
            }
            5 if at < bytes.len() => drop(bytes.remove(at)),
            _ if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
            _ => bytes.push(chance.byte()),
        }
    }
    bytes
}
