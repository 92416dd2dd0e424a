/** The reviewed list of what may differ: `accepted.yaml`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Difference } from './compare.ts'
import type { Comparison } from './player.ts'

/** One thing that stays different. */
export interface AcceptedDifference {
  /** A `*` stands for anything, here and below. */
  readonly scenario: string
  /** Ids of requests. */
  readonly requests: readonly string[]
  /** Paths in the answer (`status`, `headers.x`, `body.x`). */
  readonly paths: readonly string[]
  /** Why, as a user of the API reads it. */
  readonly reason: string
}

export interface Accepted {
  /** What the embedded server does not have, or does in a simpler way, in words. */
  readonly limits: readonly { readonly title: string; readonly text: string }[]
  readonly differences: readonly AcceptedDifference[]
}

export interface Judgement {
  readonly compared: number
  readonly equal: number
  /** Requests that differ only in what is accepted. */
  readonly accepted: number
  readonly failed: readonly { readonly comparison: Comparison; readonly differences: readonly Difference[] }[]
  /** Requests and paths of the list that do not differ any more. */
  readonly stale: readonly string[]
}

const path = join(import.meta.dirname, 'accepted.yaml')

export function readAccepted(): Accepted {
  const { limits = [], differences = [] } = parse(readFileSync(path, 'utf8')) as Partial<Accepted>
  return { limits, differences }
}

/** Judges the comparisons of all scenarios: what is accepted and differs nowhere any more is stale. */
export function judge(comparisons: readonly Comparison[], differences: readonly AcceptedDifference[]): Judgement {
  const used = new Set<string>()
  const use = (index: number, kind: string, pattern: string): void => void used.add(`${index} ${kind} ${pattern}`)
  const isAccepted = ({ scenario, id }: Comparison, difference: Difference): boolean =>
    differences.filter((entry, index) => {
      const request = matches(entry.scenario, scenario) ? entry.requests.find((pattern) => matches(pattern, id)) : undefined
      const found = request === undefined ? undefined : entry.paths.find((pattern) => matches(pattern, difference.path))
      if (request === undefined || found === undefined) return false
      use(index, 'request', request)
      use(index, 'path', found)
      return true
    }).length > 0
  const judged = comparisons.map((comparison) => ({
    comparison,
    differences: comparison.differences.filter((difference) => !isAccepted(comparison, difference)),
  }))
  const failed = judged.filter((one) => one.differences.length > 0)
  const equal = comparisons.filter((comparison) => comparison.differences.length === 0).length
  const stale = differences.flatMap(({ scenario, requests, paths }, index) =>
    [...requests.map((one) => ['request', one] as const), ...paths.map((one) => ['path', one] as const)]
      .filter(([kind, pattern]) => !used.has(`${index} ${kind} ${pattern}`))
      .map(([kind, pattern]) => `${scenario}: nothing differs any more for the ${kind} ${pattern}`),
  )
  return { compared: comparisons.length, equal, accepted: comparisons.length - equal - failed.length, failed, stale }
}

/** Whether `text` is what the pattern says, in which `*` stands for anything. */
export function matches(pattern: string, text: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${source}$`, 's').test(text)
}
