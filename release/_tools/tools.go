//go:build tools

// Package tools names the programs that are built from this module, so that its sums hold what they are made of.
package tools

import (
	_ "github.com/compose-spec/compose-go/v2/cmd"
	_ "github.com/goreleaser/nfpm/v2/cmd/nfpm"
	_ "helm.sh/helm/v3/cmd/helm"
)
