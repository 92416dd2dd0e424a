/**
 * The web server of the shop. It forwards orders to the store. Its response has the status code of the store and the version of the web
 * server.
 */
import { createServer } from 'node:http'

const version = process.env.VERSION
/** Time limit in milliseconds for the response of the store. A request to the address of a deleted Pod gets no response. */
const storeMs = 2_000

const server = createServer((request, response) => {
  if (request.method === 'GET') response.end(version)
  else void store(request.url ?? '').then((status) => response.writeHead(status).end(version))
})
server.listen(8080)
process.on('SIGTERM', () => process.exit())

/** Resolves with the status code of the store's response. Resolves with 503 if the store does not respond in time. */
async function store(path: string): Promise<number> {
  try {
    return (await fetch(`http://store:8080${path}`, { method: 'POST', signal: AbortSignal.timeout(storeMs) })).status
  } catch {
    return 503
  }
}
