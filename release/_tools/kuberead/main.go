// Kuberead reads the manifests on its standard input as a cluster would: each as the type it says it is, with no member that
// the type does not know. It prints them as JSON, with what the types make of them.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

func main() {
	if err := read(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "kuberead:", err)
		os.Exit(1)
	}
}

func read(in io.Reader, out io.Writer) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	manifests := yaml.NewYAMLReader(bufio.NewReader(in))
	for {
		text, err := manifests.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		object, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			return fmt.Errorf("%w in:\n%s", err, text)
		}
		if err := json.NewEncoder(out).Encode(object); err != nil {
			return err
		}
	}
}
