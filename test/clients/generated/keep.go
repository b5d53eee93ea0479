// Package generated holds what the generators write.
package generated

import _ "github.com/oapi-codegen/runtime"
