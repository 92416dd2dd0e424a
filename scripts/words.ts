/**
 * Searches comments, messages and docs for words that Kubernetes' documentation would not use, and counts these words. The counts are
 * informative: the script never fails. `npm run words` prints a table of counts; `npm run words -- FOLDER …` also prints each occurrence in
 * these folders.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')

/** A word to avoid, and the word of Kubernetes' documentation to write instead. */
interface Habit {
  readonly write: string
  readonly not: string
  readonly pattern: RegExp
}

const habits: readonly Habit[] = [
  { write: 'call, request', not: 'ask', pattern: /\bask(?:s|ed|ing)?\b/gi },
  { write: 'report, return', not: 'say, tell', pattern: /\b(?:say|says|said|saying|tell|tells|told|telling)\b/gi },
  { write: 'return, answer with', not: 'give', pattern: /\b(?:give|gives|gave|given|giving)\b/gi },
  { write: 'validate, evaluate', not: 'judge', pattern: /\bjudg(?:e|es|ed|ing|ement)\b/gi },
  { write: 'watch', not: 'follow', pattern: /\bfollow(?:s|ed)?\b/gi },
  { write: 'offload', not: 'apart', pattern: /\bapart\b/gi },
  { write: 'missing, not found, invalid', not: 'is none', pattern: /\b(?:is|are|was|were|has|have|had|be) none\b/gi },
  { write: 'ignore, skip', not: 'leave alone, let be', pattern: /\b(?:leaves?|left|lets?) (?:\w+ )?(?:alone|be)\b/gi },
  { write: 'idempotent', not: 'bear', pattern: /\b(?:bear|bears)\b/gi },
  { write: 'client, user', not: 'who asks, somebody', pattern: /\b(?:somebody|nobody|anybody|who (?:asks|asked|sends|calls))\b/gi },
]

/** Words with which a comment must not begin. */
const opening: Habit = {
  write: 'a subject first',
  not: 'What, Who, Whether, Of … first',
  pattern: /^(?:What|Who|Whose|Whether|How|Where|Of|As)\b/g,
}

interface Passage {
  readonly kind: 'comments' | 'messages' | 'docs'
  readonly file: string
  readonly line: number
  readonly text: string
}

/** Returns the comments of a TypeScript file. For a file in `src/`, also returns the strings that contain more than one word. */
function passagesOfSource(file: string): Passage[] {
  const source = readFileSync(join(root, file), 'utf8')
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const at = (position: number): number => tree.getLineAndCharacterOfPosition(position).line + 1
  const passages: Passage[] = []
  const seen = new Set<number>()
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []) {
      if (seen.has(range.pos)) continue
      seen.add(range.pos)
      const text = source.slice(range.pos, range.end).replace(/^\/\*\*?|\*\/$|^\/\/|^\s*\*/gm, '')
      passages.push({ kind: 'comments', file, line: at(range.pos), text: text.trim() })
    }
    const isText = ts.isStringLiteral(node) || ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)
    if (isText && file.startsWith('src/') && /\w \w/.test(node.getText(tree))) {
      passages.push({ kind: 'messages', file, line: at(node.getStart(tree)), text: node.getText(tree).slice(1, -1) })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return passages
}

/** Returns the lines of a Markdown page, without its code blocks. */
function passagesOfPage(file: string): Passage[] {
  const prose = readFileSync(join(root, file), 'utf8').replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ''))
  return prose.split('\n').map((text, index) => ({ kind: 'docs', file, line: index + 1, text }))
}

const sources = globSync(['src/**/*.ts', 'test/**/*.ts', 'scripts/**/*.ts', 'bench/**/*.ts'], { cwd: root }).sort()
const pages = globSync(['*.md', 'docs/**/*.md', 'bench/*.md', 'config/**/*.md'], { cwd: root }).sort()
const self = 'scripts/words.ts'
const passages = [...sources.filter((file) => file !== self).flatMap(passagesOfSource), ...pages.flatMap(passagesOfPage)]

const folders = process.argv.slice(2)
const kinds = ['comments', 'messages', 'docs'] as const
const counts = new Map<Habit, Record<Passage['kind'], number>>()
for (const habit of [...habits, opening]) counts.set(habit, { comments: 0, messages: 0, docs: 0 })
for (const passage of passages) {
  for (const [habit, count] of counts) {
    if (habit === opening && passage.kind !== 'comments') continue
    const found = passage.text.match(habit.pattern)?.length ?? 0
    count[passage.kind] += found
    if (found === 0 || !folders.some((folder) => passage.file.startsWith(folder))) continue
    process.stdout.write(`${passage.file}:${passage.line} [${habit.not}] ${passage.text.replaceAll(/\s+/g, ' ').slice(0, 160)}\n`)
  }
}

const row = (cells: readonly (string | number)[]): string =>
  cells.map((cell, index) => (index < 2 ? String(cell).padEnd(30) : String(cell).padStart(9))).join(' ')
process.stdout.write(`${row(['not', 'write', ...kinds])}\n`)
for (const [habit, count] of counts) process.stdout.write(`${row([habit.not, habit.write, ...kinds.map((kind) => count[kind])])}\n`)
const totals = kinds.map((kind) => [...counts.values()].reduce((sum, count) => sum + count[kind], 0))
process.stdout.write(`${row(['together', `${passages.filter(({ kind }) => kind === 'comments').length} comments`, ...totals])}\n`)
