//! The option that names an architecture.

/// Names of the option; its value follows `=` or is the next word.
const NAMES: [&str; 2] = ["--gpu-architecture", "-arch"];

/// The options with virtual architectures in place of real ones; nothing where none is real.
pub fn virtualised(options: &[&str]) -> Option<Vec<String>> {
    let mut is_real = false;
    let mut value_follows = false;
    let mut virtualise = |value: &str| {
        let rest = value.strip_prefix("sm_")?;
        is_real = true;
        Some(format!("compute_{rest}"))
    };
    let all = options
        .iter()
        .map(|option| {
            let is_value = std::mem::take(&mut value_follows);
            let other = match option.split_once('=') {
                _ if is_value => virtualise(option),
                Some((name, value)) if NAMES.contains(&name) => {
                    virtualise(value).map(|value| format!("{name}={value}"))
                }
                _ => {
                    value_follows = NAMES.contains(option);
                    None
                }
            };
            other.unwrap_or_else(|| (*option).to_owned())
        })
        .collect();
    is_real.then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_architectures_become_virtual_ones() {
        let cases: &[(&[&str], Option<&[&str]>)] = &[
            (&["-arch=sm_80", "-G"], Some(&["-arch=compute_80", "-G"])),
            (&["--gpu-architecture=sm_90a"], Some(&["--gpu-architecture=compute_90a"])),
            (&["-arch", "sm_120f", "sm_80"], Some(&["-arch", "compute_120f", "sm_80"])),
            (&["--gpu-architecture", "sm_75"], Some(&["--gpu-architecture", "compute_75"])),
            (&["-arch=compute_80"], None),
            (&["-arch", "compute_80"], None),
            (&["-DARCH=sm_80", "sm_80", "-arch"], None),
            (&[], None),
        ];
        for (options, expected) in cases {
            let expected = expected.map(|words| words.iter().map(|word| (*word).to_owned()).collect());
            assert_eq!(virtualised(options), expected, "{options:?}");
        }
    }
}
