/** Starts `proreus run` on loopback for one test file. */
import type { Test } from 'tap'
import { startProreus, type Running } from './process.ts'
import { until } from '../../../src/testing/until.ts'

export interface OperatorProcess {
  readonly running: Running
  /** The URL of the webhook server, `https://127.0.0.1:PORT`. */
  readonly webhookUrl: string
  /** The URL of the server for probes, `http://127.0.0.1:PORT`. */
  readonly probesUrl: string
  /** Resolves with the sum of the metric over all series with these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
}

export interface OperatorOptions {
  /** The working directory of the process. Its folder `certs` contains the certificates. */
  readonly directory: string
  readonly kubeconfig: string
  readonly args?: readonly string[]
}

/**
 * Starts `proreus run --install`, and stops the process at the end of the test. A restarted operator needs the same `webhookPort`, because
 * the webhook configurations contain this port. The other ports are chosen at each start.
 */
export function launchOperator(t: Test, { directory, kubeconfig, args = [] }: OperatorOptions, webhookPort: number): Running {
  const url = `https://127.0.0.1:${webhookPort}`
  const running = startProreus(
    [
      ...[
        'run',
        '--operators',
        'mypod',
        '--install',
        '--webhook-url',
        url,
        '--webhook-host',
        '127.0.0.1',
        '--webhook-port',
        String(webhookPort),
      ],
      ...['--health-probe-bind-address', '127.0.0.1:0', '--metrics-bind-address', '127.0.0.1:0', ...args],
    ],
    { cwd: directory, env: { ...process.env, KUBECONFIG: kubeconfig } },
  )
  t.teardown(() => running.stop('SIGKILL'))
  return running
}

/** Starts `proreus run --install`. Resolves when it has started. */
export async function startOperator(t: Test, options: OperatorOptions, webhookPort: number): Promise<OperatorProcess> {
  const running = launchOperator(t, options, webhookPort)
  const { probePort, metricsPort } = await until('proreus run has started', () => {
    if (running.child.exitCode !== null) throw new Error(`it ended with ${running.child.exitCode}: ${running.output()}`)
    return logLines(running.output()).find(({ msg }) => msg === 'started') as { probePort: number; metricsPort: number } | undefined
  })
  return {
    running,
    webhookUrl: `https://127.0.0.1:${webhookPort}`,
    probesUrl: `http://127.0.0.1:${probePort}`,
    metric: async (name, labels = {}) => sum(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(), name, labels),
  }
}

/** Returns the log entries in the output: the lines that are complete JSON objects. */
export function logLines(output: string): Record<string, unknown>[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

function sum(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && wanted.every((label) => line.includes(label)))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
