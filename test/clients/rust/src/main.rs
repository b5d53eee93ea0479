//! Programs of Rust's HTTP and OAuth clients against a running product.

mod http;
mod oauth;
mod world;

#[tokio::main]
async fn main() {
    http::cases().await;
    oauth::cases().await;
}
