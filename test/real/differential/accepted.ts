/** Reads and evaluates `accepted.yaml`, the reviewed list of accepted differences between the embedded and the real API server. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Difference } from './compare.ts'
import type { Comparison } from './player.ts'

/** An entry of `differences` or `lives` in `accepted.yaml`. The entry describes differences that are accepted. */
export interface AcceptedDifference {
  /** The name of a scenario. `*` matches any string, as in `requests` and `paths`. */
  readonly scenario: string
  /** The ids of requests in the scenario. */
  readonly requests: readonly string[]
  /** The paths of values in the response, such as `status`, `headers.x` and `body.x`. */
  readonly paths: readonly string[]
  /** The reason for the difference. The documentation for users contains this reason. */
  readonly reason: string
  /**
   * True when the difference does not occur in every run, because the difference depends on the timing of the real control plane. If
   * `isRare` is true and a pattern of this entry matches no difference, the pattern is not reported as stale. Default: false.
   */
  readonly isRare?: boolean
}

export interface Accepted {
  /** The features that the embedded API server lacks or simplifies. The documentation lists these features. */
  readonly limits: readonly { readonly title: string; readonly text: string }[]
  readonly differences: readonly AcceptedDifference[]
  /**
   * The accepted differences in the lives of workloads. A life is a list of steps that create, change and delete a workload. In each entry,
   * `scenario` is the name of a life, and `requests` are steps of this life.
   */
  readonly lives: readonly AcceptedDifference[]
}

export interface Review {
  readonly compared: number
  readonly equal: number
  /** The number of requests whose differences are all accepted. */
  readonly accepted: number
  readonly failed: readonly { readonly comparison: Comparison; readonly differences: readonly Difference[] }[]
  /**
   * One message for each stale pattern. A pattern in the `requests` or `paths` of an accepted difference is stale if it no longer matches
   * any difference. The patterns of an accepted difference with `isRare` are never stale.
   */
  readonly stale: readonly string[]
}

const path = join(import.meta.dirname, 'accepted.yaml')

export function readAccepted(): Accepted {
  const { limits = [], differences = [], lives = [] } = parse(readFileSync(path, 'utf8')) as Partial<Accepted>
  return { limits, differences, lives }
}

/**
 * Compares the differences in `comparisons` with the accepted differences in `differences`. If a pattern in `requests` or `paths` of an
 * accepted difference matches no difference in `comparisons`, the pattern is stale. The patterns of an accepted difference with `isRare`
 * are never stale.
 */
export function review(comparisons: readonly Comparison[], differences: readonly AcceptedDifference[]): Review {
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
  const reviewed = comparisons.map((comparison) => ({
    comparison,
    differences: comparison.differences.filter((difference) => !isAccepted(comparison, difference)),
  }))
  const failed = reviewed.filter((one) => one.differences.length > 0)
  const equal = comparisons.filter((comparison) => comparison.differences.length === 0).length
  const stale = differences.flatMap(({ scenario, requests, paths, isRare = false }, index) =>
    [...requests.map((one) => ['request', one] as const), ...paths.map((one) => ['path', one] as const)]
      .filter(([kind, pattern]) => !isRare && !used.has(`${index} ${kind} ${pattern}`))
      .map(([kind, pattern]) => `${scenario}: nothing differs any more for the ${kind} ${pattern}`),
  )
  return { compared: comparisons.length, equal, accepted: comparisons.length - equal - failed.length, failed, stale }
}

/** Returns true when the pattern matches the complete string. `*` matches any string. */
export function matches(pattern: string, text: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${source}$`, 's').test(text)
}
