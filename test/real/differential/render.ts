/** The page of the docs about where the embedded API server differs, from the reviewed list. */
import type { Accepted } from './accepted.ts'
import { readAccepted } from './accepted.ts'

/**
 * Markdown: the known limits, then each difference with its reason.
 *
 * @example
 * const page = renderDifferences()
 */
export function renderDifferences({ limits, differences }: Accepted = readAccepted()): string {
  const rows = differences.map(({ scenario, requests, paths, reason }) => {
    const where = requests.map((request) => code(`${scenario}/${request}`)).join(', ')
    return `| ${where} | ${paths.map(code).join(', ')} | ${cell(reason)} |\n`
  })
  return [
    '# Where the embedded API server differs\n\n',
    'The same requests are played against a real kube-apiserver and the embedded one, and every answer is compared: status, headers and body. ',
    'What is told here is all that may differ.\n\n',
    '## Limits\n\n',
    ...limits.map(({ title, text }) => `- **${title}** ${text.trim().replaceAll(/\s+/g, ' ')}\n`),
    '\n## Differences in answers\n\n',
    'Requests are those of the scenarios in `test/real/differential/scenarios`; a `*` stands for anything.\n\n',
    '| request | where in the answer | why |\n| --- | --- | --- |\n',
    ...rows,
  ].join('')
}

function code(text: string): string {
  return `\`${cell(text)}\``
}

function cell(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}
