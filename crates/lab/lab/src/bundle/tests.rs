use super::*;

#[test]
fn a_template_is_filled_and_what_is_put_in_is_not_looked_into() {
    let values = [("A", "@B@ a@b".to_string()), ("B", "x".to_string())];
    assert_eq!(script::fill("1@A@2@B@3@C@4 me@home", &values), "1@B@ a@b2x3@C@4 me@home");
}
