/** Mail addresses as Go's `mail.ParseAddress` reads them (RFC 5322): `a@b.c`, `Name <a@b.c>`, `"quoted"@b.c`; but no groups. */
import { isAddress } from './format-network.ts'

const atomCharacter = String.raw`[A-Za-z0-9!#$%&'*+/=?^_\x60{|}~\-\u0080-\uffff]`
const dotAtom = `${atomCharacter}+(?:\\.${atomCharacter}+)*`
const quotedString = String.raw`"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[\t\x20-\x7e\u0080-\uffff])*"`
const domainLiteral = String.raw`\[([^\][\\]*)\]`
const space = '[ \\t]*'
const comment = String.raw`\([^()\\]*\)`
const addressSpec = `(?:${dotAtom}|${quotedString})@${space}(?:${dotAtom}|${domainLiteral})`
const trailer = `(?:[ \\t]|${comment})*`

const plainAddress = new RegExp(`^${space}${addressSpec}${trailer}$`)
// Character by character, so that there is one way alone to match a display name.
const displayName = `(?:[ \\t]|${quotedString}|${comment}|${atomCharacter}|\\.)*`
const namedAddress = new RegExp(`^${displayName}<${space}${addressSpec}${space}>${trailer}$`)

/** Beyond what any mail system takes; keeps the patterns' work small. */
const maxLength = 1024

export function isEmail(text: string): boolean {
  if (text.length > maxLength) return false
  const match = plainAddress.exec(text) ?? namedAddress.exec(text)
  return match !== null && (match[1] === undefined || isAddress(match[1]))
}
