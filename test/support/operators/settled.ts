/** Reads the metrics of a running operator: the number of reconciles of its controllers, and whether the controllers have more work. */
import type { StartedOperator } from '../../../src/testing/started-operator.ts'
import { until } from '../../../src/testing/until.ts'

/** Returns the number of reconciles of each controller. */
export async function reconcilesOf({ endpoints }: StartedOperator): Promise<ReadonlyMap<string, number>> {
  return sumByLabel(await scrape(endpoints.metrics), 'controller_runtime_reconcile_total', 'controller')
}

/**
 * Resolves when the controllers have finished their current work:
 *
 * - Each of `controllers` has completed at least `count` reconciles in addition to those in `before`.
 * - No work queue has a ready key. A key that waits for a delayed requeue is not ready.
 * - No worker is active.
 *
 * @param pass called before each read of the metrics, for example to advance a fake clock
 */
export async function untilReconciled(
  operator: StartedOperator,
  controllers: readonly string[],
  {
    count,
    before = new Map(),
    pass = () => undefined,
  }: {
    readonly count: number
    readonly before?: ReadonlyMap<string, number>
    readonly pass?: () => unknown
  },
): Promise<void> {
  await until(
    'all objects have been reconciled',
    async () => {
      await pass()
      const text = await scrape(operator.endpoints.metrics)
      const done = sumByLabel(text, 'controller_runtime_reconcile_total', 'controller')
      const busy = [sumByLabel(text, 'workqueue_depth', 'name'), sumByLabel(text, 'controller_runtime_active_workers', 'controller')]
      return (
        controllers.every((name) => (done.get(name) ?? 0) - (before.get(name) ?? 0) >= count) &&
        busy.every((gauge) => [...gauge.values()].every((value) => value === 0))
      )
    },
    60_000,
  )
}

/** Returns the number of requests of the operator whose HTTP method is not GET. */
export async function writesIn({ endpoints }: StartedOperator): Promise<number> {
  const byMethod = sumByLabel(await scrape(endpoints.metrics), 'rest_client_requests_total', 'method')
  return [...byMethod].reduce((sum, [method, count]) => (method === 'GET' ? sum : sum + count), 0)
}

async function scrape(address: { readonly port: number } | undefined): Promise<string> {
  if (address === undefined) throw new Error('the operator has no endpoint for metrics')
  return (await fetch(`http://127.0.0.1:${address.port}/metrics`)).text()
}

function sumByLabel(text: string, metric: string, label: string): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [, labels, value] of text.matchAll(new RegExp(`^${metric}\\{(.*)\\} (\\S+)$`, 'gm'))) {
    const name = new RegExp(`(?:^|,)${label}="([^"]*)"`).exec(labels!)?.[1] ?? ''
    sums.set(name, (sums.get(name) ?? 0) + Number(value))
  }
  return sums
}
