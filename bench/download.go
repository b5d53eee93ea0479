// download URL CERTIFICATE: reads the answer of one request over HTTP/2 with Go's own client, as it is, and discards it.
// Prints bytes, seconds and the version as JSON.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	certificate, err := os.ReadFile(os.Args[2])
	must(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	begun := time.Now()
	response, err := client.Get(os.Args[1])
	must(err)
	count, err := io.Copy(io.Discard, response.Body)
	must(err)
	told := map[string]any{"status": response.StatusCode, "version": response.ProtoMajor, "bytes": count, "seconds": time.Since(begun).Seconds()}
	text, err := json.Marshal(told)
	must(err)
	fmt.Println(string(text))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
