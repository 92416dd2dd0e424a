/** Prints the differences between the two control planes as Markdown. */
import type { Review } from './accepted.ts'

const longest = 700

/**
 * Returns the differences that are not accepted, and the totals. With `showStale`, also returns the patterns in the list of accepted
 * differences that match no difference.
 */
export function report({ compared, equal, accepted, failed, stale }: Review, { showStale }: { readonly showStale: boolean }): string {
  const blocks = failed.map(({ comparison, differences }) => {
    const lines = differences.map(({ path, real, embedded }) => `- \`${path}\`\n  - real: ${show(real)}\n  - embedded: ${show(embedded)}\n`)
    return `### ${comparison.scenario}: ${comparison.id}\n\n    ${comparison.request}\n\n${lines.join('')}\n`
  })
  const lines = showStale ? stale.map((line) => `stale: ${line}\n`) : []
  const totals = `${compared} compared: ${equal} equal, ${accepted} differ as accepted, ${failed.length} differ\n`
  return [...blocks, ...lines, totals].join('')
}

function show(value: unknown): string {
  const text = value === undefined ? '(absent)' : JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text
}
