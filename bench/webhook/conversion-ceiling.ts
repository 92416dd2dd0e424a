/** The ceiling of the platform for conversions: fastify that parses the review and writes its objects with another version. */
import { readFileSync } from 'node:fs'
import fastify from 'fastify'

interface Review {
  request: { uid: string; desiredAPIVersion: string; objects: Record<string, unknown>[] }
}

const [port, cert, key] = process.argv.slice(2) as [string, string, string]
const app = fastify({ https: { cert: readFileSync(cert), key: readFileSync(key) }, bodyLimit: 64 * 1024 * 1024 })
app.removeAllContentTypeParsers()
app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, JSON.parse(body as string)))
app.post<{ Body: Review }>('/*', async ({ body: { request } }, reply) => {
  const convertedObjects = request.objects.map((object) => ({ ...object, apiVersion: request.desiredAPIVersion }))
  const response = { uid: request.uid, convertedObjects, result: { status: 'Success' } }
  return reply.type('application/json').send(JSON.stringify({ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', response }))
})
await app.listen({ host: '127.0.0.1', port: Number(port) })
