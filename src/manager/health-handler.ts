/** Named health checks, and the handlers of `/healthz` and `/readyz`. The responses have the format of kube-apiserver's responses. */
import type { Answer } from './http-endpoint.ts'
import { messageOf } from '../api/errors.ts'
import { redactText } from '../telemetry/secret-text.ts'

export interface Check {
  readonly name: string
  /** False for a check that only informs: the probe succeeds even if this check fails, and `?verbose` shows the failure. Default: true. */
  readonly decides?: boolean
  /** Returns undefined when the check succeeds, otherwise the problem. A thrown error counts as a failed check. */
  problem(): Promise<string | undefined> | string | undefined
}

type TextAnswer = Answer & { readonly body: string }

interface Finding {
  readonly check: Check
  readonly problem: string | undefined
}

/**
 * Returns the handler of `/path`, `/path?verbose`, `/path?exclude=name` and `/path/name`. The handler calls `checks` for each request,
 * because checks are added while the process starts.
 */
export function healthHandler(path: string, checks: () => readonly Check[]): (url: URL) => Promise<TextAnswer | undefined> {
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

/** Runs a check. Secrets in the problem, such as the password of a URL, are redacted, because anybody can read the response. */
async function find(check: Check): Promise<Finding> {
  try {
    const problem = await check.problem()
    return { check, problem: problem === undefined ? undefined : redactText(problem) }
  } catch (error) {
    return { check, problem: redactText(messageOf(error)) }
  }
}

function summary(name: string, findings: readonly Finding[], verbose: boolean): TextAnswer {
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
