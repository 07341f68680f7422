// Package sdk holds tests that run the Python and TypeScript packages in sdk/, and the recipes for agent frameworks in docs/recipes,
// against a real `interlock up`. There is nothing to import. `make setup` installs the compiler and the frameworks; without them the
// tests fail and say so.
package sdk
