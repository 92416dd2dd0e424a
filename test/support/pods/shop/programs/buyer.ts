/**
 * A buyer of the shop. It sends each order to the Service `web` repeatedly, until the order is acknowledged. Then it prints the line
 * `acknowledged ID VERSION`. Arguments: the prefix of the ids, and the number of orders.
 */
import { setTimeout as delay } from 'node:timers/promises'

const [prefix = '', count = ''] = process.argv.slice(2)
/** Times in milliseconds: the time limit of a request, and the delay after a failed request. */
const [requestMs, pauseMs] = [3_000, 100]

for (let number = 0; number < Number(count); number += 1) {
  const id = `${prefix}-${number}`
  let version: string | undefined
  while (version === undefined) version = await order(id)
  process.stdout.write(`acknowledged ${id} ${version}\n`)
}

/** Resolves with the version of the web server when the order was acknowledged. Otherwise, resolves with undefined after a delay. */
async function order(id: string): Promise<string | undefined> {
  try {
    // Each request has a new connection, so any of the web servers can receive it.
    const headers = { connection: 'close' }
    const response = await fetch(`http://web/orders/${id}`, { method: 'POST', headers, signal: AbortSignal.timeout(requestMs) })
    const version = await response.text()
    if (response.status === 201) return version
  } catch {
    // No web server has responded in time. The web server may have been replaced.
  }
  await delay(pauseMs)
  return undefined
}
