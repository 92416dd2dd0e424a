/**
 * Syntax and type errors of an expression. `formatIssues` adds the position and the source line to their messages, as cel-go does
 * (`cel-go/common: error.go`).
 */

export interface Issue {
  /** Position in the source; undefined when the issue concerns the whole expression. */
  readonly offset: number | undefined
  readonly message: string
}

/** Thrown when an expression has syntax errors or exceeds a limit of the parser. */
export class CelSyntaxError extends Error {
  override readonly name = 'CelSyntaxError'
  readonly issues: readonly Issue[]
  constructor(issues: readonly Issue[])
  constructor(offset: number | undefined, message: string)
  constructor(issues: readonly Issue[] | number | undefined, message = '') {
    super(message)
    this.issues = typeof issues === 'object' ? issues : [{ offset: issues, message }]
  }
}

/**
 * Maximum length of a source line in a message, in UTF-16 code units. If a line is longer, the message does not contain the line. cel-go
 * has the same limit, but measures the length in bytes.
 */
const maxSnippet = 16_384
const maxIssues = 100

/**
 * Sorts the first `maxIssues` issues by their position, and formats them. The text of an issue consists of a message, the source line, and
 * a caret below the position. An example of a message is `ERROR: <input>:1:5: undefined field 'x'`.
 */
export function formatIssues(source: string, issues: readonly Issue[]): string {
  const lines = source.split('\n')
  const located = issues.slice(0, maxIssues).map((issue) => ({ ...locate(source, issue.offset), message: issue.message }))
  located.sort((a, b) => a.line - b.line || a.column - b.column)
  const texts = located.map(({ line, column, message }) => {
    const head = `ERROR: <input>:${line}:${column + 1}: ${message}`
    const snippet = lines[line - 1]?.replaceAll('\t', ' ')
    return snippet === undefined || snippet.length > maxSnippet ? head : `${head}\n | ${snippet}\n | ${markBelow(snippet, column)}`
  })
  if (issues.length > maxIssues) texts.push(`${issues.length - maxIssues} more errors were truncated`)
  return texts.join('\n')
}

function locate(source: string, offset: number | undefined): { line: number; column: number } {
  if (offset === undefined) return { line: -1, column: -1 }
  const before = source.slice(0, offset)
  const start = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: [...before.slice(start)].length }
}

/**
 * Returns dots up to the column, followed by a caret. If a dot or the caret is below a character that is not an ASCII character, this dot
 * or caret has full width.
 */
function markBelow(snippet: string, column: number): string {
  const characters = [...snippet]
  const dots = characters.slice(0, column).map((character) => (isWide(character) ? '\uff0e' : '.'))
  const at = characters[column]
  return dots.join('') + (at !== undefined && isWide(at) ? '\uff3e' : '^')
}

function isWide(character: string): boolean {
  return character.codePointAt(0)! > 0x7f
}
