package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	coder "github.com/coder/websocket"
	gorilla "github.com/gorilla/websocket"
)

const (
	coderName   = "github.com/coder/websocket"
	gorillaName = "github.com/gorilla/websocket"
)

func webSocketCases() {
	for _, base := range []struct{ name, url string }{
		{"", strings.Replace(world.HTTP, "http", "ws", 1)},
		{" over TLS", strings.Replace(world.HTTPS, "http", "ws", 1)},
	} {
		run(coderName, "echo of texts and of 4 MiB, close"+base.name, func(ctx context.Context) error {
			return coderEcho(ctx, base.url+"/files/socket")
		})
		run(gorillaName, "echo of texts and of 4 MiB, close"+base.name, func(ctx context.Context) error {
			return gorillaEcho(ctx, base.url+"/files/socket")
		})
	}
}

func coderEcho(ctx context.Context, url string) error {
	socket, _, err := coder.Dial(ctx, url, &coder.DialOptions{HTTPClient: trusting()})
	if err != nil {
		return err
	}
	defer socket.CloseNow()
	socket.SetReadLimit(-1)
	for _, message := range messages() {
		if err := socket.Write(ctx, coder.MessageBinary, message); err != nil {
			return err
		}
		_, back, err := socket.Read(ctx)
		if err != nil {
			return err
		}
		if !bytes.Equal(back, message) {
			return fmt.Errorf("%d bytes came back for %d", len(back), len(message))
		}
	}
	return socket.Close(coder.StatusNormalClosure, "done")
}

func gorillaEcho(ctx context.Context, url string) error {
	dialer := gorilla.Dialer{TLSClientConfig: tlsConfig()}
	socket, _, err := dialer.DialContext(ctx, url, nil)
	if err != nil {
		return err
	}
	defer socket.Close()
	for _, message := range messages() {
		if err := socket.WriteMessage(gorilla.BinaryMessage, message); err != nil {
			return err
		}
		_, back, err := socket.ReadMessage()
		if err != nil {
			return err
		}
		if !bytes.Equal(back, message) {
			return fmt.Errorf("%d bytes came back for %d", len(back), len(message))
		}
	}
	farewell := gorilla.FormatCloseMessage(gorilla.CloseNormalClosure, "done")
	if err := socket.WriteMessage(gorilla.CloseMessage, farewell); err != nil {
		return err
	}
	_, _, err = socket.ReadMessage()
	if !gorilla.IsCloseError(err, gorilla.CloseNormalClosure) {
		return fmt.Errorf("ended with %v", err)
	}
	return nil
}

func messages() [][]byte {
	found := [][]byte{{}, []byte("one"), bytes.Repeat([]byte("b"), 126), bytes.Repeat([]byte("c"), 65_536)}
	return append(found, bytes.Repeat([]byte("d"), 4<<20))
}
