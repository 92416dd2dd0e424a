/**
 * Checks email addresses as Go's `mail.ParseAddress` does (RFC 5322). Go accepts `a@b.c`, `Name <a@b.c>` and `"quoted"@b.c`, and rejects
 * groups.
 */
import { isAddress } from './network.ts'

const atomCharacter = String.raw`[A-Za-z0-9!#$%&'*+/=?^_\x60{|}~\-\u0080-\uffff]`
const dotAtom = `${atomCharacter}+(?:\\.${atomCharacter}+)*`
const quotedString = String.raw`"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[\t\x20-\x7e\u0080-\uffff])*"`
const domainLiteral = String.raw`\[([^\][\\]*)\]`
const space = '[ \\t]*'
const comment = String.raw`\([^()\\]*\)`
const addressSpec = `(?:${dotAtom}|${quotedString})@${space}(?:${dotAtom}|${domainLiteral})`
const trailer = `(?:[ \\t]|${comment})*`

const plainAddress = new RegExp(`^${space}${addressSpec}${trailer}$`)
// Each alternative begins with different characters, so a display name can be matched in only one way. Matching therefore takes linear
// time.
const displayName = `(?:[ \\t]|${quotedString}|${comment}|${atomCharacter}|\\.)*`
const namedAddress = new RegExp(`^${displayName}<${space}${addressSpec}${space}>${trailer}$`)

/** Maximum length of an address. It limits the time that the patterns take. No mail system accepts longer addresses. */
const maxLength = 1024

export function isEmail(text: string): boolean {
  if (text.length > maxLength) return false
  const match = plainAddress.exec(text) ?? namedAddress.exec(text)
  return match !== null && (match[1] === undefined || isAddress(match[1]))
}
