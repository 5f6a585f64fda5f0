// Package projections is a sample.
package projections

import (
	_ "os"

	_ "github.com/spf13/cobra" // want import
)
