# kiln: try it, check it, measure it, install it. Everything else is in `cargo xtask`.

PREFIX ?= /usr/local
DESTDIR ?=
KILN = target/release/kiln

# Under sudo, cargo is that of the user who called it.
USER_HOME := $(if $(SUDO_USER),$(shell getent passwd '$(SUDO_USER)' | cut -d: -f6),$(HOME))
export PATH := $(PATH):$(USER_HOME)/.cargo/bin
export RUSTUP_HOME ?= $(USER_HOME)/.rustup

.PHONY: help try check bench proof fuzz configurations ltp experiments debian-6.1 build install clean

help:
	@echo 'make try      set up, build, boot a stock kernel, run the smoke suite, print the verdict'
	@echo 'make check    set up, and everything that must pass before a change lands'
	@echo 'make bench    what kiln promises about its own speed and size'
	@echo 'make proof    check, and what takes longer: fuzzing, many property cases, the benchmark;'
	@echo '              cargo xtask proof --resume goes on after an interruption'
	@echo 'make fuzz     each fuzz target for half an hour, for nights'
	@echo 'make ltp      LTP on three kernels, as docs/ltp.md has it, for nights'
	@echo 'make configurations'
	@echo '              build what kiln build recommends from two sources and plant faults in it, for nights'
	@echo 'make experiments'
	@echo '              every experiment in full, on two kernels'
	@echo 'make debian-6.1'
	@echo '              test and measure each 6.1 kernel of Debian, and write docs/debian-6.1.md'
	@echo 'make install  kiln, its manual pages and completions under PREFIX ($(PREFIX))'

try:
	scripts/setup try
	cargo build --release --locked --package kiln
	kernel=$${KERNEL:-$$(scripts/kernel-to-try)} && $(KILN) run "$$kernel"

check:
	scripts/setup check
	cargo xtask ci

bench:
	scripts/setup check
	cargo xtask bench

proof:
	scripts/setup proof
	cargo xtask proof

fuzz:
	scripts/setup proof
	cargo xtask fuzz all 1800

configurations:
	scripts/setup proof
	cargo xtask configurations

ltp:
	scripts/setup proof
	cargo xtask ltp

experiments: build
	scripts/setup proof
	$(KILN) exp | while read -r name rest; do \
		$(KILN) exp run "experiments/$$name" --kernel deb:6.1.0-56-amd64 --kernel deb:6.12.117+deb12-amd64 </dev/null || exit 1; \
	done

debian-6.1: build
	scripts/debian-6.1

build:
	cargo build --release --locked --package kiln

install: build
	install -D -m 755 $(KILN) '$(DESTDIR)$(PREFIX)/bin/kiln'
	rm -rf target/manual && $(KILN) manual target/manual
	install -d '$(DESTDIR)$(PREFIX)/share/man/man1'
	install -m 644 target/manual/*.1 '$(DESTDIR)$(PREFIX)/share/man/man1/'
	install -d '$(DESTDIR)$(PREFIX)/share/kiln'
	cp -r experiments '$(DESTDIR)$(PREFIX)/share/kiln/'
	install -d '$(DESTDIR)$(PREFIX)/share/systemd/user'
	sed 's|/usr/local|$(PREFIX)|' scripts/systemd/kiln-watch@.service > '$(DESTDIR)$(PREFIX)/share/systemd/user/kiln-watch@.service'
	install -d '$(DESTDIR)$(PREFIX)/share/bash-completion/completions' \
		'$(DESTDIR)$(PREFIX)/share/zsh/site-functions' '$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d'
	$(KILN) completions bash > '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/kiln'
	$(KILN) completions zsh > '$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_kiln'
	$(KILN) completions fish > '$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/kiln.fish'

clean:
	cargo clean
