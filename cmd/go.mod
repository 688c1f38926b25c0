module github.com/kubetyped/informer/cmd

go 1.26.0

require golang.org/x/tools v0.52.0

require (
	github.com/golangci/plugin-module-register v0.1.2
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2
)

require (
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)
