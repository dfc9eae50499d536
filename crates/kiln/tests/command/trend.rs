//! `kiln trend`: figures over the history of kernels.

use serde_json::Value;

use crate::support::{Done, KERNEL, Place};

fn trend(place: &Place, arguments: &[&str]) -> Done {
    place.kiln([&["trend"], arguments].concat()).run()
}

#[test]
fn kernels_that_nobody_measured_are_measured_once() {
    let place = Place::new();
    let asked = ["syscall/getppid", KERNEL, "--measure", "--json"];
    let document = |done: Done| serde_json::from_str::<Value>(&done.expect(0).stdout).expect("JSON");
    let first = document(trend(&place, &asked));
    let point = &first[0]["series"][0]["points"][0];
    assert_eq!(point["kernel"]["release"], KERNEL.trim_start_matches("deb:"), "{first:#}");
    assert!(point["median"].as_f64().is_some_and(|median| median > 100.0), "{first:#}");
    assert_eq!(document(trend(&place, &asked)), first, "nothing is missing");
    let folders = std::fs::read_dir(place.path().join("state/kiln/measurements")).expect("kept").count();
    assert_eq!(folders, 1);

    let (page, image) = (place.path().join("t.html"), place.path().join("t.svg"));
    let files = ["--html", &page.to_string_lossy(), "--svg", &image.to_string_lossy()];
    let table = trend(&place, &[&["syscall/*"], &files[..]].concat()).expect(0).stdout;
    assert!(
        table.contains("cloud, counted, QEMU with TCG") && table.contains("no step in 1 kernel"),
        "{table}"
    );
    let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("written");
    assert!(read(&page).contains("kiln trend") && read(&image).starts_with("<svg xmlns="));
    for (arguments, message) in [
        (&["syscall/getpid"][..], "of a metric \"syscall/getpid\"; did you mean syscall/getppid?"),
        (&["syscall/*", "deb:7.*"], "of a kernel \"deb:7.*\""),
        (&["syscall/*", "deb:7.*", "--measure"], "no kernel matches \"deb:7.*\""),
        (&["syscall/*", "--measure"], "<KERNELS>"),
        (&["syscall/*", "--svg", "/nonexistent/t.svg"], "--svg /nonexistent/t.svg: name a file"),
    ] {
        let done = trend(&place, arguments).expect(2);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
    let empty = trend(&Place::new(), &["syscall/*"]).expect(2);
    assert!(empty.stderr.contains("no figures in "), "{}", empty.stderr);
}

#[test]
#[ignore = "takes minutes"]
fn the_kernels_of_debian_12_that_made_a_difference_stand_out() {
    let place = Place::new();
    let asked = ["poll/epoll-create-close", "deb:6.1.0-*-cloud-amd64", "--measure", "--json"];
    let done = place.kiln([&["trend"], &asked[..]].concat()).run_within(crate::support::BUILD).expect(0);
    let trends: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let series = &trends[0]["series"][0];
    let points = series["points"].as_array().expect("kernels");
    assert!(points.len() >= 5, "{series:#}");
    let steps = series["steps"].as_array().expect("steps").iter();
    let at = |step: &Value| {
        let point = &points[usize::try_from(step["at"].as_u64().expect("a number")).expect("small")];
        point["kernel"]["release"].as_str().expect("text").to_owned()
    };
    let steps: Vec<String> = steps.map(at).collect();
    assert!(steps.contains(&"6.1.0-50-cloud-amd64".to_owned()), "kvfree_call_rcu in ep_free: {steps:?}");
}
