/** `serveBare`: starts a webhook server that does as little as possible. fastify parses the body, and the handler returns a string. */
import { readFileSync } from 'node:fs'
import fastify from 'fastify'

/**
 * Serves the response that `answer` returns for each review. A file that calls this function is started by `node FILE.ts PORT CERT KEY`.
 */
export async function serveBare<Review>(maxBodyBytes: number, answer: (review: Review) => string): Promise<void> {
  const [port, cert, key] = process.argv.slice(2) as [string, string, string]
  const app = fastify({ https: { cert: readFileSync(cert), key: readFileSync(key) }, bodyLimit: maxBodyBytes })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, JSON.parse(body as string)))
  app.post('/*', async ({ body }, reply) => reply.type('application/json').send(answer(body as Review)))
  await app.listen({ host: '127.0.0.1', port: Number(port) })
}
