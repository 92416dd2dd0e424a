/** A `proreus run` on loopback for one test file. */
import type { Test } from 'tap'
import { startProreus, type Running } from './process.ts'
import { until } from '../../../src/testing/until.ts'

export interface OperatorProcess {
  readonly running: Running
  /** The URL of the webhook server, `https://127.0.0.1:port`. */
  readonly webhookUrl: string
  /** The URL of the probes, `http://127.0.0.1:port`. */
  readonly probesUrl: string
  /** Resolves with the sum of the samples of a metric that have all these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
}

export interface OperatorOptions {
  /** The working directory, whose folder `certs` contains the certificates. */
  readonly directory: string
  readonly kubeconfig: string
  readonly args?: readonly string[]
}

/** Starts `proreus run --install`, until the test ends. `webhookPort` lets a restarted operator keep its port; the others are free ones. */
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

/** Launches the operator; resolves when it has started. */
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

/** Returns the log entries: the lines that are complete JSON objects. */
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
