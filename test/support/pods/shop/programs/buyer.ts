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

/**
 * If the order is acknowledged, resolves with the version of the web server. If the order fails, waits and then resolves with undefined.
 */
async function order(id: string): Promise<string | undefined> {
  try {
    // Each request uses a new connection, so any of the web servers can receive the request.
    const headers = { connection: 'close' }
    const response = await fetch(`http://web/orders/${id}`, { method: 'POST', headers, signal: AbortSignal.timeout(requestMs) })
    const version = await response.text()
    if (response.status === 201) return version
  } catch {
    // The request has failed or timed out. The web server may have been replaced.
  }
  await delay(pauseMs)
  return undefined
}
