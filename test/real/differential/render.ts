/** Renders the documentation page about the differences between the embedded and a real API server, from the reviewed list. */
import type { Accepted } from './accepted.ts'
import { readAccepted } from './accepted.ts'

/**
 * Returns the page as Markdown: first the limits, then each accepted difference with its reason.
 *
 * @example const page = renderDifferences()
 */
export function renderDifferences({ limits, differences }: Accepted = readAccepted()): string {
  const rows = differences.map(({ scenario, requests, paths, reason }) => {
    const where = requests.map((request) => code(`${scenario}/${request}`)).join(', ')
    return `| ${where} | ${paths.map(code).join(', ')} | ${cell(reason)} |\n`
  })
  return [
    '# Where the embedded API server differs\n\n',
    'The tests send the same requests to a real kube-apiserver and to the embedded one, and compare status, headers and body of every response. ',
    'This page lists all accepted differences.\n\n',
    '## Limits\n\n',
    ...limits.map(({ title, text }) => `- **${title}** ${text.trim().replaceAll(/\s+/g, ' ')}\n`),
    '\n## Differences in answers\n\n',
    'The requests are in the scenarios of `test/real/differential/scenarios`; `*` matches any text.\n\n',
    '| request | part of the response | reason |\n| --- | --- | --- |\n',
    ...rows,
  ].join('')
}

function code(text: string): string {
  return `\`${cell(text)}\``
}

function cell(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}
