/** What is wrong with an expression, shown with its place as the API server shows it. */

export interface Issue {
  /** Undefined when the whole expression is meant. */
  readonly offset: number | undefined
  readonly message: string
}

/** The text of an expression cannot be read as one. */
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

/** Lines longer than this are not repeated. */
const maxSnippet = 16_384
const maxIssues = 100

/** All issues, in the order of their places: `ERROR: <input>:1:5: undefined field 'x'` with the line and a mark below it. */
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

/** Dots up to the place and a caret; wide ones below characters that take more than one byte. */
function markBelow(snippet: string, column: number): string {
  const characters = [...snippet]
  const dots = characters.slice(0, column).map((character) => (isWide(character) ? '\uff0e' : '.'))
  const at = characters[column]
  return dots.join('') + (at !== undefined && isWide(at) ? '\uff3e' : '^')
}

function isWide(character: string): boolean {
  return character.codePointAt(0)! > 0x7f
}
