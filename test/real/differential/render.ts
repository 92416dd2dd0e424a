/**
 * Renders the documentation page that lists the differences between the embedded API server and a real API server. The differences are read
 * from the reviewed list.
 */
import type { Accepted, AcceptedDifference } from './accepted.ts'
import { readAccepted } from './accepted.ts'

/**
 * Returns the page as Markdown: first the limits, then each accepted difference with its reason.
 *
 * @example const page = renderDifferences()
 */
export function renderDifferences({ limits, differences, lives }: Accepted = readAccepted()): string {
  return [
    '# Where the embedded API server differs\n\n',
    'The tests send the same requests to a real kube-apiserver and to the embedded one, and compare status, headers and body of every response. ',
    'This page lists all accepted differences.\n\n',
    '## Limits\n\n',
    ...limits.map(({ title, text }) => `- **${title}** ${text.trim().replaceAll(/\s+/g, ' ')}\n`),
    '\n## Differences in answers\n\n',
    'The requests are in the scenarios of `test/real/differential/scenarios`; `*` matches any text.\n\n',
    '| request | part of the response | reason |\n| --- | --- | --- |\n',
    ...rows(differences),
    '\n## Differences in the lives of workloads\n\n',
    'The tests also play the lives of workloads against kube-controller-manager: after each step, objects, Events and the states on the way are ',
    'compared. The lives are in `test/real/differential/workloads/lives`.\n\n',
    '| step | part of the outcome | reason |\n| --- | --- | --- |\n',
    ...rows(lives),
  ].join('')
}

function rows(differences: readonly AcceptedDifference[]): string[] {
  return differences.map(({ scenario, requests, paths, reason }) => {
    const where = requests.map((request) => code(`${scenario}/${request}`)).join(', ')
    return `| ${where} | ${paths.map(code).join(', ')} | ${cell(reason)} |\n`
  })
}

function code(text: string): string {
  return `\`${cell(text)}\``
}

function cell(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}
