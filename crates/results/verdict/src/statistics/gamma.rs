//! The gamma function.

/// The logarithm of the gamma function of `x` above 0, by Stirling's series where its error is below 1e-12.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 16.0 {
        product *= x;
        x += 1.0;
    }
    let square = x * x;
    let rest = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / x;
    (x - 0.5) * x.ln() - x + std::f64::consts::TAU.ln() / 2.0 + rest - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_continues_the_factorial() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-11 * b.abs().max(1.0);
        let (mut whole, mut half) = (0.0, std::f64::consts::PI.sqrt().ln());
        for n in 1..2000 {
            let n = f64::from(n);
            assert!(near(ln_gamma(n), whole), "{n}");
            assert!(near(ln_gamma(n - 0.5), half), "{n}");
            whole += n.ln();
            half += (n - 0.5).ln();
        }
    }
}
