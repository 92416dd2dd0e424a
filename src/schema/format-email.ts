/** Mail addresses as Go's `mail.ParseAddress` reads them (RFC 5322): `a@b.c`, `Name <a@b.c>`, `"quoted"@b.c`. */

const atomCharacter = String.raw`[A-Za-z0-9!#$%&'*+/=?^_\x60{|}~\-\u0080-\uffff]`
const dotAtom = `${atomCharacter}+(?:\\.${atomCharacter}+)*`
const quotedString = String.raw`"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[\t\x20-\x7e\u0080-\uffff])*"`
const domainLiteral = String.raw`\[[\x21-\x5a\x5e-\x7e]*\]`
const space = '[ \\t]*'
const addressSpec = `(?:${dotAtom}|${quotedString})${space}@${space}(?:${dotAtom}|${domainLiteral})`

const plainAddress = new RegExp(`^${space}${addressSpec}${space}$`)
// Character by character, so that there is one way alone to match a display name.
const displayName = `(?:[ \\t]|${quotedString}|${atomCharacter}|\\.)*`
const namedAddress = new RegExp(`^${displayName}<${space}${addressSpec}${space}>${space}$`)

/** Beyond what any mail system takes; keeps the patterns' work small. */
const maxLength = 1024

export function isEmail(text: string): boolean {
  return text.length <= maxLength && (plainAddress.test(text) || namedAddress.test(text))
}
