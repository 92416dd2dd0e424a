/** A conversion webhook of Proreus for a kind with two versions. Started as `node conversion.ts PORT CERT KEY`. */
import { operator } from '../../docs/examples/conversion.ts'
import { serveProreus } from './proreus-server.ts'

await serveProreus({ webhooks: [], conversions: operator.conversions })
