// Programs of Go's HTTP, gRPC, WebSocket and OAuth clients against a running product.
// Each case prints a line of JSON; the runner in ../runner says what the world file holds.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// The longest that one case may take.
const caseTimeout = 60 * time.Second

var world struct {
	HTTP           string `json:"http"`
	HTTPS          string `json:"https"`
	CA             string `json:"ca"`
	Desk           string `json:"desk"`
	Redirect       string `json:"redirect"`
	DownloadBytes  int64  `json:"download_bytes"`
	DownloadSHA256 string `json:"download_sha256"`
}

// Trusts the authority of the run, and nothing else.
var roots = x509.NewCertPool()

func main() {
	if len(os.Args) == 3 && os.Args[1] == "grpc-server" {
		serveGRPC(os.Args[2])
		return
	}
	readWorld()
	if len(os.Args) == 4 && os.Args[1] == "grpc-case" {
		runGRPC(os.Args[2], os.Args[3])
		return
	}
	httpCases()
	webSocketCases()
	grpcCases()
	oauthCases()
	mcpCases()
}

func readWorld() {
	text, err := os.ReadFile(os.Getenv("CLIENTS_WORLD"))
	must(err)
	must(json.Unmarshal(text, &world))
	ca, err := os.ReadFile(world.CA)
	must(err)
	roots.AppendCertsFromPEM(ca)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Runs a case and prints how it ended. A panic is a failure, for some libraries end so.
func run(client, flow string, act func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), caseTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if told := recover(); told != nil {
				done <- fmt.Errorf("panic: %v", told)
			}
		}()
		done <- act(ctx)
	}()
	line := map[string]string{"client": client, "flow": flow}
	select {
	case err := <-done:
		if err != nil {
			line["failed"] = err.Error()
		}
	case <-time.After(caseTimeout + 5*time.Second):
		line["failed"] = "took too long"
	}
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func tlsConfig() *tls.Config {
	return &tls.Config{RootCAs: roots}
}

// A client that trusts the authority of the run and speaks HTTP/2 where it is offered.
func trusting() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig(), ForceAttemptHTTP2: true}}
}

// Asks the desk, and answers the members that it sent.
func desk(ctx context.Context, path string, body any) (map[string]string, error) {
	text, _ := json.Marshal(body)
	request, _ := http.NewRequestWithContext(ctx, "POST", world.Desk+path, bytes.NewReader(text))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	told, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != 200 {
		return nil, fmt.Errorf("the desk answered %d: %s", response.StatusCode, told)
	}
	members := map[string]string{}
	if len(told) > 0 && told[0] == '{' {
		_ = json.Unmarshal(told, &members)
	}
	return members, nil
}

// A browser whose user signs in and agrees. Answers the parameters that come back to the client.
func browse(address string) (map[string]string, error) {
	found := map[string]string{}
	browser := trusting()
	browser.CheckRedirect = func(next *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(next.URL.String(), world.Redirect) {
			for name, values := range next.URL.Query() {
				found[name] = values[0]
			}
		}
		return nil
	}
	response, err := browser.Get(address)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	if len(found) == 0 {
		return nil, fmt.Errorf("the browser ended at %d: %s", response.StatusCode, text)
	}
	return found, nil
}
