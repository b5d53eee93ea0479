//! reqwest over both versions of HTTP, with and without TLS.

use crate::world::{Outcome, expect, number, run, text, trusting};
use futures_util::future::try_join_all;
use futures_util::stream;
use reqwest::{Body, Client, Version};
use sha2::{Digest, Sha256};

const NAME: &str = "reqwest";
const PART: usize = 65_536;
const PARTS: usize = 256;

pub async fn cases() {
    let ways = [
        ("HTTP/1.1", text("http"), Version::HTTP_11, trusting().http1_only()),
        ("HTTP/1.1 over TLS", text("https"), Version::HTTP_11, trusting().http1_only()),
        ("HTTP/2 over TLS", text("https"), Version::HTTP_2, trusting()),
        ("HTTP/2 by prior knowledge", text("http"), Version::HTTP_2, trusting().http2_prior_knowledge()),
        (
            "HTTP/2 over TLS with an adaptive window",
            text("https"),
            Version::HTTP_2,
            trusting().http2_adaptive_window(true),
        ),
    ];
    for (name, base, version, builder) in ways {
        let client = builder.build().expect("a client");
        run(NAME, &format!("download of 64 MiB, {name}"), download(&client, &base, version)).await;
        run(NAME, &format!("upload of 16 MiB with its length, {name}"), upload(&client, &base, Body::from(pattern()))).await;
        let streamed = stream::iter((0..PARTS).map(|_| Ok::<_, std::io::Error>(part())));
        let body = Body::wrap_stream(streamed);
        run(NAME, &format!("upload of 16 MiB without a length, {name}"), upload(&client, &base, body)).await;
        run(NAME, &format!("20 requests at once, {name}"), at_once(&client, &base, "/files/bytes/500000", 20, 500_000)).await;
        run(NAME, &format!("100 requests on an upstream that ends each connection, {name}"), async {
            for _ in 0..25 {
                at_once(&client, &base, "/files/last", 4, 2).await?;
            }
            Ok(())
        })
        .await;
    }
}

fn part() -> Vec<u8> {
    (0..PART).map(|i| (i * 7) as u8).collect()
}

fn pattern() -> Vec<u8> {
    part().repeat(PARTS)
}

async fn download(client: &Client, base: &str, version: Version) -> Outcome {
    let mut answer = client.get(format!("{base}/files/bytes/{}", number("download_bytes"))).send().await?;
    expect(answer.version() == version, answer.version())?;
    let mut digest = Sha256::new();
    while let Some(part) = answer.chunk().await? {
        digest.update(&part);
    }
    expect(format!("{:x}", digest.finalize()) == text("download_sha256"), "another digest")
}

async fn upload(client: &Client, base: &str, body: Body) -> Outcome {
    let told = client.post(format!("{base}/files/upload")).body(body).send().await?.text().await?;
    expect(told.contains(&format!("{:x}", Sha256::digest(pattern()))), told)
}

async fn at_once(client: &Client, base: &str, path: &str, count: usize, bytes: usize) -> Outcome {
    let answers = (0..count).map(|_| async {
        let answer = client.get(format!("{base}{path}")).send().await?.error_for_status()?;
        Ok::<_, reqwest::Error>(answer.bytes().await?.len())
    });
    let counts = try_join_all(answers).await?;
    expect(counts.iter().all(|count| *count == bytes), counts)
}
