module github.com/aiws-reducer/aiws-reducer

go 1.26.0
