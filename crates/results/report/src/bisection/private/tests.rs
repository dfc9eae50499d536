use bisect::{AxisRequest, Question};

use super::*;

fn private(words: &[&str]) -> Private {
    let parameters = words.join(" ");
    let axis = AxisRequest::Parameters {
        kernel: "deb:latest".parse().unwrap(),
        first: String::new(),
        last: parameters,
    };
    Private::of(&BisectRequest::new(axis, Question::Boot))
}

#[test]
fn only_the_last_part_of_a_users_path_is_left() {
    let private = private(&["/srv/ada/src/linux", "x=/srv/ada/it.sh"]).and(["/data/cache"]);
    for (text, expected) in [
        (
            "kiln run git:/srv/ada/src/linux@v6.1..v6.2 --exec /srv/ada/it.sh -- -x",
            "kiln run git:linux@v6.1..v6.2 --exec ./it.sh -- -x",
        ),
        ("--config boot,$HOME/ada/x.config,~/y.config", "--config boot,./x.config,./y.config"),
        ("40 commits from ~/linux to here", "40 commits from ./linux to here"),
        ("gcc -I/srv/ada/src/linux/include: /srv/ada/src/linux-next/a.c:3", "gcc -I./include: ./a.c:3"),
        ("file://$HOME/ada/x, (/tmp/kiln-1/log) and '/data/cache'", "file://./x, (./log) and './cache'"),
        ("cannot open \"/run/user/0/x y\"", "cannot open \"./x y\""),
    ] {
        assert_eq!(private.hide(&text.replace("$HOME", USERS[1])), expected);
    }
}

#[test]
fn paths_of_the_kernel_and_of_the_guest_stay() {
    let private = private(&["root=/dev/sda", "init=/bin/sh", "/srv/ada"]);
    for text in [
        "deb:6.1.0-56-cloud, fs/ext4 and a / b, 3/4, ~ 5",
        "fs/ext4/inode.c:12: drivers/tty$HOME/x.c arch/x86/root/y.c tools/tmp/z.c",
        "/dev/sda1 on /proc/sys/kernel and /sys/class/net, root=/dev/sda init=/bin/sh",
        "mounted on /tmp, /root: tmpfs /tmpfs/x /mnt/tmp/x /etc/passwd",
        "/srv/bob",
    ] {
        let text = text.replace("$HOME", USERS[1]);
        assert_eq!(private.hide(&text), text);
    }
}

#[test]
fn quotes_of_a_command_hide_no_path() {
    let private = private(&[]).and(["/srv/it's ada's/$x.sh"]);
    let command = call(&["run", "boot,/srv/it's ada's/$x.sh"].map(str::to_owned));
    assert_eq!(private.hide_in_command(&command), "kiln run 'boot,./$x.sh'");
}
