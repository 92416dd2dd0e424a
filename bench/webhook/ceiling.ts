/** The ceiling of the platform: fastify that parses the body and says yes. `node ceiling.ts PORT CERT KEY`. */
import { readFileSync } from 'node:fs'
import fastify from 'fastify'

const [port, cert, key] = process.argv.slice(2) as [string, string, string]
const app = fastify({ https: { cert: readFileSync(cert), key: readFileSync(key) }, bodyLimit: 8 * 1024 * 1024 })
app.removeAllContentTypeParsers()
app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, JSON.parse(body as string)))
app.post<{ Body: { request: { uid: string } } }>('/*', async ({ body }, reply) =>
  reply
    .type('application/json')
    .send(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"${body.request.uid}","allowed":true}}`),
)
await app.listen({ host: '127.0.0.1', port: Number(port) })
