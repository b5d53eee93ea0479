package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
)

const grpcName = "google.golang.org/grpc"

// gRPC's own interoperability service, without TLS.
func serveGRPC(port string) {
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	must(err)
	server := grpc.NewServer()
	testgrpc.RegisterTestServiceServer(server, interop.NewTestServer())
	fmt.Println("ready")
	must(server.Serve(listener))
}

// The cases of gRPC's interoperability suite (doc/interop-test-descriptions.md of grpc/grpc). They end the process when they fail, so
// each runs in a process of its own.
var interopCases = map[string]func(context.Context, testgrpc.TestServiceClient, ...grpc.CallOption){
	"empty_unary":                 interop.DoEmptyUnaryCall,
	"large_unary":                 interop.DoLargeUnaryCall,
	"client_streaming":            interop.DoClientStreaming,
	"server_streaming":            interop.DoServerStreaming,
	"ping_pong":                   interop.DoPingPong,
	"empty_stream":                interop.DoEmptyStream,
	"timeout_on_sleeping_server":  interop.DoTimeoutOnSleepingServer,
	"cancel_after_begin":          interop.DoCancelAfterBegin,
	"cancel_after_first_response": interop.DoCancelAfterFirstResponse,
	"custom_metadata":             interop.DoCustomMetadata,
	"status_code_and_message":     interop.DoStatusCodeAndMessage,
	"special_status_message":      interop.DoSpecialStatusMessage,
	"unimplemented_method": func(ctx context.Context, client testgrpc.TestServiceClient, _ ...grpc.CallOption) {
		if _, err := client.UnimplementedCall(ctx, &testgrpc.Empty{}); status.Code(err) != codes.Unimplemented {
			must(fmt.Errorf("%v", err))
		}
	},
}

func grpcCases() {
	for _, base := range []struct{ name, url string }{{"", world.HTTP}, {" over TLS", world.HTTPS}} {
		for _, name := range slices.Sorted(maps.Keys(interopCases)) {
			run(grpcName, "interop "+name+base.name, func(ctx context.Context) error {
				told, err := exec.CommandContext(ctx, os.Args[0], "grpc-case", name, base.url).CombinedOutput()
				if err != nil {
					err = fmt.Errorf("%w: %s", err, told)
				}
				return err
			})
		}
	}
}

// One case; the process ends with a failure where it fails.
func runGRPC(name, url string) {
	connection, err := dialGRPC(url)
	must(err)
	defer connection.Close()
	interopCases[name](context.Background(), testgrpc.NewTestServiceClient(connection))
}

func dialGRPC(url string) (*grpc.ClientConn, error) {
	scheme, host, _ := strings.Cut(url, "://")
	how := insecure.NewCredentials()
	if scheme == "https" {
		how = credentials.NewTLS(tlsConfig())
	}
	return grpc.NewClient(host, grpc.WithTransportCredentials(how))
}
