package plan

import (
	"strings"
	"unicode/utf8"
)

// jsSpaces are the characters that String.prototype.trim of ECMAScript cuts: white space and line ends, U+FEFF among them,
// U+0085 not.
const jsSpaces = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

func jsTrim(text string) string { return strings.Trim(text, jsSpaces) }

// maxMessage is how many bytes the message of a fault has at most, more or less.
const maxMessage = 1024

// short returns message, or its beginning: what it quotes can be as long as a document.
func short(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "..."
}

// hasControl reports whether text has one of U+0000 to U+001F or U+007F.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// utf16Len returns the length of text in UTF-16 code units.
func utf16Len(text string) int {
	units := 0
	for _, c := range text {
		if units++; c > 0xFFFF {
			units++
		}
	}
	return units
}

// isDigest reports whether text is sha256: and 64 lower-case hexadecimal digits.
func isDigest(text string) bool {
	hex, ok := strings.CutPrefix(text, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

// isPortablePath reports whether path names the same file on every system, relative to some folder. Backslash, drive letter,
// the characters that some system forbids and all controls below U+0020 are refused, and so is a segment that is empty, . or
// .., ends in a dot or a space, or is a device.
func isPortablePath(path string) bool {
	if strings.ContainsAny(path, `\<>:"|?*`) || strings.ContainsFunc(path, func(c rune) bool { return c < ' ' }) {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") { // a leading slash makes the first one empty
		last, _ := utf8.DecodeLastRuneInString(segment)
		if segment == "" || last == '.' || last == ' ' || isDevice(segment) {
			return false
		}
	}
	return true
}

// isDevice reports whether a segment is the name of a device on Windows, which takes it whatever follows the first dot and
// however it is cased; only ASCII letters have case there.
func isDevice(segment string) bool {
	base, _, _ := strings.Cut(segment, ".")
	base = lowerASCII(strings.TrimRight(base, " "))
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$":
		return true
	}
	number, isCom := strings.CutPrefix(base, "com")
	if !isCom {
		var isLpt bool
		if number, isLpt = strings.CutPrefix(base, "lpt"); !isLpt {
			return false
		}
	}
	switch number {
	case "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

func lowerASCII(text string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, text)
}
