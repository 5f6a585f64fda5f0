// Command tool is a sample that is in order.
package main

import "fmt"

func main() { fmt.Println("fine") }
