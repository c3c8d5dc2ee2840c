//! Texts as vectors, from a model that makes them, so that texts can be compared by what they mean.
//!
//! Vectors are a help and never a need: whoever asks for them goes on without when there are none.
//! Nothing here decides what is relevant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use sha2::{Digest, Sha256};

use super::ModelError;

/// Whatever makes vectors of texts.
///
/// Implemented by [`OpenAiEmbedder`](super::openai::OpenAiEmbedder) and by [`Remembering`], which
/// wraps another. An implementation returns one vector for each text, in their order and all of
/// one length, or an error.
pub trait Embedder: Send + Sync {
    /// Returns the model's name.
    fn name(&self) -> &str;

    /// Makes the vectors.
    fn embed<'a>(&'a self, texts: &'a [String])
    -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>>;
}

/// So many vectors are remembered; with the usual 1,000 numbers each they take 16 MB.
const MOST: usize = 4096;

/// Asks another one for what it was not asked before: what stands in a repository hardly changes
/// from turn to turn.
pub struct Remembering {
    inner: Arc<dyn Embedder>,
    known: Mutex<HashMap<[u8; 32], Vec<f32>>>,
}

impl Remembering {
    /// Returns one that asks `inner`.
    pub fn new(inner: Arc<dyn Embedder>) -> Self {
        Self { inner, known: Mutex::default() }
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let keys: Vec<[u8; 32]> = texts.iter().map(|text| Sha256::digest(text).into()).collect();
        let mut found: HashMap<[u8; 32], Vec<f32>> = HashMap::new();
        let mut missing = Vec::new();
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for (key, text) in keys.iter().zip(texts) {
                if found.contains_key(key) {
                    continue;
                }
                let vector = known.get(key).cloned();
                if vector.is_none() {
                    missing.push((*key, text.clone()));
                }
                found.insert(*key, vector.unwrap_or_default());
            }
        }
        if !missing.is_empty() {
            let (keys, texts): (Vec<[u8; 32]>, Vec<String>) = missing.into_iter().unzip();
            let made = self.inner.embed(&texts).await?;
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() + made.len() > MOST {
                known.clear();
            }
            for (key, vector) in keys.into_iter().zip(made) {
                known.insert(key, vector.clone());
                found.insert(key, vector);
            }
        }
        Ok(keys.iter().map(|key| found.get(key).cloned().unwrap_or_default()).collect())
    }
}

impl Embedder for Remembering {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(self.ask(texts))
    }
}

/// Returns the cosine of the angle between two vectors: 1 for the same direction, 0 for nothing in
/// common; 0 too when they cannot be compared.
pub fn similarity(one: &[f32], other: &[f32]) -> f64 {
    if one.len() != other.len() {
        return 0.0;
    }
    let product = |one: &[f32], other: &[f32]| -> f64 {
        one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let lengths = (product(one, one) * product(other, other)).sqrt();
    if lengths > 0.0 { (product(one, other) / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use pretty_assertions::assert_eq;

    use super::*;

    /// Makes vectors of lengths and remembers what it was asked.
    #[derive(Default)]
    struct Lengths {
        asked: Mutex<Vec<Vec<String>>>,
    }

    impl Embedder for Lengths {
        fn name(&self) -> &'static str {
            "lengths"
        }

        fn embed<'a>(
            &'a self,
            texts: &'a [String],
        ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
            self.asked.lock().unwrap().push(texts.to_vec());
            let vector = |text: &String| vec![f32::from(u8::try_from(text.len()).unwrap())];
            Box::pin(std::future::ready(Ok(texts.iter().map(vector).collect())))
        }
    }

    #[test]
    fn what_was_asked_before_is_not_asked_again() {
        let inner = Arc::new(Lengths::default());
        let remembering = Remembering::new(Arc::clone(&inner) as Arc<dyn Embedder>);
        let embed = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            remembering.embed(&texts).now_or_never().unwrap().unwrap()
        };
        assert_eq!(embed(&["a", "bb", "a"]), [[1.0], [2.0], [1.0]]);
        assert_eq!(embed(&["bb", "ccc", "a"]), [[2.0], [3.0], [1.0]]);
        assert_eq!(embed(&["a"]), [[1.0]]);
        assert_eq!(*inner.asked.lock().unwrap(), [vec!["a", "bb"], vec!["ccc"]]);
    }

    #[test]
    fn the_angle_counts_and_not_the_length() {
        let check = |one: &[f32], other: &[f32], expected: f64| {
            assert!((similarity(one, other) - expected).abs() < 1e-9, "{one:?} {other:?}");
        };
        check(&[1.0, 0.0], &[5.0, 0.0], 1.0);
        check(&[1.0, 0.0], &[0.0, 2.0], 0.0);
        check(&[1.0, 0.0], &[-1.0, 0.0], -1.0);
        check(&[1.0], &[1.0, 0.0], 0.0);
        check(&[0.0], &[1.0], 0.0);
        check(&[], &[], 0.0);
    }
}
