/**
 * An admission webhook that does as little as possible. The benchmark measures it to estimate how fast a webhook on Node.js can be. The
 * webhook only parses the review, and allows every request. The command is `node ceiling.ts PORT CERT KEY`.
 */
import { serveBare } from './bare-fastify.ts'

interface Review {
  readonly request: { readonly uid: string }
}

await serveBare<Review>(
  8 * 1024 * 1024,
  ({ request }) => `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"${request.uid}","allowed":true}}`,
)
