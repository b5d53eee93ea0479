import { hash } from 'node:crypto'

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:3rem auto;padding:0 1rem;color:#1c2430}
label{display:block;margin-top:.8rem}input{width:100%;box-sizing:border-box;font:inherit;padding:.4rem}
button{margin-top:1.2rem;font:inherit;padding:.4rem 1rem}output{display:block;margin-top:1rem;white-space:pre-wrap}`

/** The token stands behind the `#`, which no browser sends and no log keeps. */
const SCRIPT = `const form=document.querySelector('form'),said=document.querySelector('output')
form.addEventListener('submit',async(event)=>{event.preventDefault();said.textContent='...'
const body=Object.fromEntries(new FormData(form));body.token=new URLSearchParams(location.hash.slice(1)).get('token')||''
try{const answer=await fetch('/api/bootstrap',{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify(body)})
const{Status,Message,Meta}=await answer.json()
if(Status!=='OK'){said.textContent=Message;return}
form.remove();history.replaceState(null,'',location.pathname)
said.textContent=Message+'.\\n\\nYour API credential, for the Authorization header:\\n'+Meta.user.access_key}
catch{said.textContent='The dashboard did not answer. Try again.'}})`

/** The page of the set-up link: one form, which works by itself, without anything from elsewhere. */
export const SET_UP_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">
<title>Set up Gatehouse</title><style>${STYLE}</style></head>
<body><h1>Set up Gatehouse</h1><form>
<label>Organisation<input name="organisation" required maxlength="256"></label>
<label>First name<input name="first_name" maxlength="256" autocomplete="given-name"></label>
<label>Last name<input name="last_name" maxlength="256" autocomplete="family-name"></label>
<label>Email address<input name="email" type="email" required autocomplete="username"></label>
<label>Password<input name="password" type="password" required autocomplete="new-password"></label>
<button>Create</button></form><output role="status"></output>
<script>${SCRIPT}</script></body></html>
`

const allowed = (source: string) => `'sha256-${hash('sha256', source, 'base64')}'`

/** What the page may do: run its own script, use its own style, call this dashboard. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `script-src ${allowed(SCRIPT)}`,
  `style-src ${allowed(STYLE)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
