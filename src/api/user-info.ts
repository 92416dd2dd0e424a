/** The static type of an authenticated user, as in `authentication/v1 UserInfo`. */

/** An authenticated user. A webhook receives the user who sent the request to the API server. */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}
