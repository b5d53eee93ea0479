package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

const (
	netHTTP     = "net/http"
	uploadBytes = 16 << 20
)

// One version of HTTP, with and without TLS.
type version struct {
	name   string
	base   string
	proto  int
	client *http.Client
}

func versions() []version {
	plain1, plain2 := new(http.Protocols), new(http.Protocols)
	plain1.SetHTTP1(true)
	plain2.SetUnencryptedHTTP2(true)
	only1 := &http.Transport{TLSClientConfig: tlsConfig(), Protocols: plain1, MaxIdleConnsPerHost: 16}
	return []version{
		{"HTTP/1.1", world.HTTP, 1, &http.Client{Transport: &http.Transport{Protocols: plain1, MaxIdleConnsPerHost: 16}}},
		{"HTTP/1.1 over TLS", world.HTTPS, 1, &http.Client{Transport: only1}},
		{"HTTP/2 over TLS", world.HTTPS, 2, trusting()},
		{"HTTP/2 by prior knowledge", world.HTTP, 2, &http.Client{Transport: &http.Transport{Protocols: plain2}}},
	}
}

func httpCases() {
	for _, one := range versions() {
		run(netHTTP, "download of 64 MiB, "+one.name, func(ctx context.Context) error { return download(ctx, one) })
		run(netHTTP, "upload of 16 MiB with its length, "+one.name, func(ctx context.Context) error {
			return upload(ctx, one, bytes.NewReader(pattern()), "files")
		})
		run(netHTTP, "upload of 16 MiB without a length, "+one.name, func(ctx context.Context) error {
			return upload(ctx, one, io.MultiReader(bytes.NewReader(pattern())), "files")
		})
		run(netHTTP, "upload to an upstream of HTTP/2, "+one.name, func(ctx context.Context) error {
			return upload(ctx, one, io.MultiReader(bytes.NewReader(pattern())), "files2")
		})
		run(netHTTP, "8 downloads at once on one client, "+one.name, func(ctx context.Context) error {
			return atOnce(8, func() error { return fetch(ctx, one, "/files/bytes/4000000", 4_000_000) })
		})
		run(netHTTP, "200 requests on an upstream that ends each connection, "+one.name, func(ctx context.Context) error {
			return races(ctx, one)
		})
		run(netHTTP, "a download that is given up leaves the client working, "+one.name, func(ctx context.Context) error {
			return abandon(ctx, one)
		})
	}
	run(netHTTP, "trailers of request and answer, HTTP/2", func(ctx context.Context) error {
		return trailers(ctx, versions()[2])
	})
	run(netHTTP, "Expect: 100-continue, HTTP/1.1", func(ctx context.Context) error { return expect(ctx, versions()[0]) })
}

func pattern() []byte {
	body := make([]byte, uploadBytes)
	for i := range body {
		body[i] = byte(i * 7)
	}
	return body
}

func download(ctx context.Context, one version) error {
	response, err := get(ctx, one, fmt.Sprintf("/files/bytes/%d", world.DownloadBytes))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	digest := sha256.New()
	count, err := io.Copy(digest, response.Body)
	if err != nil {
		return fmt.Errorf("after %d bytes: %w", count, err)
	}
	if sum := hex.EncodeToString(digest.Sum(nil)); count != world.DownloadBytes || sum != world.DownloadSHA256 {
		return fmt.Errorf("%d bytes with digest %s", count, sum)
	}
	return nil
}

func get(ctx context.Context, one version, path string) (*http.Response, error) {
	request, _ := http.NewRequestWithContext(ctx, "GET", one.base+path, nil)
	response, err := one.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != 200 || response.ProtoMajor != one.proto {
		response.Body.Close()
		return nil, fmt.Errorf("answered %d over %s", response.StatusCode, response.Proto)
	}
	return response, nil
}

func fetch(ctx context.Context, one version, path string, bytes int64) error {
	response, err := get(ctx, one, path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	count, err := io.Copy(io.Discard, response.Body)
	if err == nil && count != bytes {
		err = fmt.Errorf("%d bytes", count)
	}
	return err
}

type uploaded struct {
	Bytes    int64             `json:"bytes"`
	SHA256   string            `json:"sha256"`
	Trailers map[string]string `json:"trailers"`
}

func upload(ctx context.Context, one version, body io.Reader, api string) error {
	request, _ := http.NewRequestWithContext(ctx, "POST", one.base+"/"+api+"/upload", body)
	told, _, err := send(one, request)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(pattern())
	if told.Bytes != uploadBytes || told.SHA256 != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("the upstream got %d bytes with digest %s", told.Bytes, told.SHA256)
	}
	return nil
}

func send(one version, request *http.Request) (uploaded, http.Header, error) {
	var told uploaded
	response, err := one.client.Do(request)
	if err != nil {
		return told, nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		text, _ := io.ReadAll(response.Body)
		return told, nil, fmt.Errorf("answered %d: %s", response.StatusCode, text)
	}
	err = json.NewDecoder(response.Body).Decode(&told)
	_, _ = io.Copy(io.Discard, response.Body)
	return told, response.Trailer, err
}

// What several acts at once complain about.
func atOnce(count int, act func() error) error {
	errs := make([]error, count)
	var group sync.WaitGroup
	for i := range count {
		group.Go(func() { errs[i] = act() })
	}
	group.Wait()
	return errors.Join(errs...)
}

// The upstream ends its connection behind each answer, which it had not announced.
func races(ctx context.Context, one version) error {
	return atOnce(4, func() error {
		for i := range 50 {
			if err := fetch(ctx, one, "/files/last", 2); err != nil {
				return fmt.Errorf("request %d: %w", i, err)
			}
		}
		return nil
	})
}

func abandon(ctx context.Context, one version) error {
	for range 5 {
		response, err := get(ctx, one, "/files/bytes/50000000")
		if err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, response.Body, 100_000); err != nil {
			return err
		}
		response.Body.Close()
	}
	return fetch(ctx, one, "/files/bytes/1000000", 1_000_000)
}

func trailers(ctx context.Context, one version) error {
	request, _ := http.NewRequestWithContext(ctx, "POST", one.base+"/files2/upload", io.MultiReader(strings.NewReader("body")))
	request.Trailer = http.Header{"X-Digest": {"of the body"}}
	told, _, err := send(one, request)
	if err != nil {
		return err
	}
	if told.Trailers["x-digest"] != "of the body" {
		return fmt.Errorf("the upstream got trailers %v", told.Trailers)
	}
	response, err := get(ctx, one, "/files2/trailers")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err != nil {
		return err
	}
	if response.Trailer.Get("X-Checksum") != "abc" {
		return fmt.Errorf("trailers %v", response.Trailer)
	}
	return nil
}

func expect(ctx context.Context, one version) error {
	request, _ := http.NewRequestWithContext(ctx, "POST", one.base+"/files/upload", strings.NewReader("body"))
	request.Header.Set("Expect", "100-continue")
	told, _, err := send(one, request)
	if err == nil && told.Bytes != 4 {
		err = fmt.Errorf("the upstream got %d bytes", told.Bytes)
	}
	return err
}
