/** Named health checks, and the handlers of `/healthz` and `/readyz`, which answer in the format of the API server's. */
import type { Answer, Handler } from './http-endpoint.ts'
import { messageOf } from '../api/errors.ts'

export interface Check {
  readonly name: string
  /** Default true. With false, the check is shown by `?verbose` and has no effect on the status. */
  readonly decides?: boolean
  /** Returns undefined when healthy, otherwise the problem. An exception counts as a problem, too. */
  problem(): Promise<string | undefined> | string | undefined
}

interface Finding {
  readonly check: Check
  readonly problem: string | undefined
}

/**
 * Serves `/path`, `/path?verbose`, `/path?exclude=name` and `/path/name`. `checks` is called for each request, because the list changes
 * while the process starts.
 */
export function healthHandler(path: string, checks: () => readonly Check[]): Handler {
  return async (url) => {
    if (url.pathname === path) {
      const excluded = url.searchParams.getAll('exclude')
      const findings = await Promise.all(
        checks()
          .filter(({ name }) => !excluded.includes(name))
          .map(find),
      )
      return summary(path.slice(1), findings, url.searchParams.has('verbose'))
    }
    if (!url.pathname.startsWith(`${path}/`)) return undefined
    const name = decodeName(url.pathname.slice(path.length + 1))
    const check = checks().find((candidate) => candidate.name === name)
    if (check === undefined) return undefined
    const { problem } = await find(check)
    return problem === undefined ? { code: 200, body: 'ok' } : { code: 500, body: `${problem}\n` }
  }
}

async function find(check: Check): Promise<Finding> {
  try {
    return { check, problem: await check.problem() }
  } catch (error) {
    return { check, problem: messageOf(error) }
  }
}

function summary(name: string, findings: readonly Finding[], verbose: boolean): Answer {
  const healthy = findings.every(({ check, problem }) => problem === undefined || check.decides === false)
  if (healthy && !verbose) return { code: 200, body: 'ok' }
  const lines = findings.map(({ check, problem }) => {
    if (problem === undefined) return `[+]${check.name} ok`
    return check.decides === false ? `[~]${check.name}: ${problem} (does not decide)` : `[-]${check.name} failed: ${problem}`
  })
  return { code: healthy ? 200 : 500, body: `${lines.join('\n')}\n${name} check ${healthy ? 'passed' : 'failed'}\n` }
}

function decodeName(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
